// SOLUTION write
        self.ready.store(true, Ordering::Release);
        // SAFETY: nobody reads before the flag.
        self.value.with_mut(|place| unsafe { *place = value });
// END
