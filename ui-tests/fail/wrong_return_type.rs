#[turbowish::instrument]
async fn tail() -> u32 {
    "text"
}

#[turbowish::instrument]
async fn early(early: bool) -> Result<u32, String> {
    if early {
        return Err(1);
    }
    Ok(2)
}

#[turbowish::instrument]
async fn missing() -> u32 {
    tokio::task::yield_now().await;
}

#[turbowish::instrument]
async fn unknown() -> NoSuchType {
    1
}

#[turbowish::instrument]
async fn forgotten() {
    tail()
}

#[turbowish::instrument]
async fn nothing(early: bool) {
    if early {
        return Err(1);
    }
    tail().await;
}

fn main() {
    drop((tail(), early(true), missing(), unknown(), forgotten(), nothing(true)));
}
