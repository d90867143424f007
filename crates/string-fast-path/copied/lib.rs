//! The pattern alone, outside the workspace: see `cargo xtask test copies`.

mod after;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod copied {
    use super::*;
    use pyo3::types::PyList;

    /// There and back, on a thread that Python does not know and in the list.
    #[pyfunction]
    fn round_trip<'py>(list: &Bound<'py, PyList>) -> PyResult<(Bound<'py, PyList>, usize)> {
        let py = list.py();
        let owned: Vec<Py<PyAny>> = list.iter().map(Bound::unbind).collect();
        let refuse = after::Surrogates::Refuse;
        let bare = py.detach(|| {
            std::thread::scope(|scope| {
                let bare = scope.spawn(|| after::encode(&owned, refuse, None));
                bare.join().expect("encoding does not panic")
            })
        });
        let bare = bare.map_err(|refused| refused.into_err(py, &owned, 0))?;
        let same = after::encode_list(list, 0..list.len(), after::Surrogates::Replace)?;
        assert_eq!(bare, same);
        Ok((same.decode(py)?, same.rows() + same.small_offsets()?.len()))
    }
}
