// SOLUTION read
        if self.ready.load(Ordering::Relaxed) {
// END
