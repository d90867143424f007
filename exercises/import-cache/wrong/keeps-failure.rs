// SOLUTION make
            let _making = self.making.lock_py_attached(py).unwrap();
            if let Some(kept) = self.value.get() {
                return Ok(kept);
            }
            let module = import(py, &self.name).unwrap_or_else(|_| py.None());
            let address = module.into_ptr() as usize;
            self.value.set(address);
            Ok(address)
// END
