#[turbowish::instrument(attributes)]
async fn no_list() {}

#[turbowish::instrument(attributes = "shard")]
async fn no_parentheses() {}

#[turbowish::instrument(attributes("7"))]
async fn no_name() {}

#[turbowish::instrument(attributes(shard))]
async fn no_value() {}

#[turbowish::instrument(attributes(shard = shard))]
async fn no_constant(shard: u32) {
    drop(shard);
}

#[turbowish::instrument(attributes(shard = b"7"))]
async fn no_text() {}

#[turbowish::instrument(attributes(shard = "7\n8"))]
async fn two_lines() {}

#[turbowish::instrument(attributes(shard = 1, tier = 2, shard = 3))]
async fn twice() {}

#[turbowish::instrument(attributes(shard = 1), attributes(tier = 2))]
async fn two_lists() {}

#[turbowish::instrument(attributes(shard = 1 tier = 2))]
async fn no_comma() {}

fn main() {
    // The items are there all the same: no second error.
    drop((no_list(), no_parentheses(), no_name(), no_value(), no_constant(1), no_text()));
    drop((two_lines(), twice(), two_lists(), no_comma()));
}
