#[turbowish::instrument(fields)]
async fn no_list() {}

#[turbowish::instrument(fields = "shard")]
async fn no_parentheses() {}

#[turbowish::instrument(fields("7"))]
async fn no_name() {}

#[turbowish::instrument(fields(shard))]
async fn no_value() {}

#[turbowish::instrument(fields(shard = shard))]
async fn no_constant(shard: u32) {
    drop(shard);
}

#[turbowish::instrument(fields(shard = b"7"))]
async fn no_text() {}

#[turbowish::instrument(fields(shard = "7\n8"))]
async fn two_lines() {}

#[turbowish::instrument(fields(shard = 1, tier = 2, shard = 3))]
async fn twice() {}

#[turbowish::instrument(fields(shard = 1), fields(tier = 2))]
async fn two_lists() {}

#[turbowish::instrument(fields(shard = 1 tier = 2))]
async fn no_comma() {}

fn main() {
    // The items are there all the same: no second error.
    drop((no_list(), no_parentheses(), no_name(), no_value(), no_constant(1), no_text()));
    drop((two_lines(), twice(), two_lists(), no_comma()));
}
