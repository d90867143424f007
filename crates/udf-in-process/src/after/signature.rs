//! What a function accepts, read once, when it is registered.

use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::types::declared;

/// Declared parameters and result. Arguments are passed by position only.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The function's name, for messages.
    pub name: String,
    /// The declared types. With `varargs` the last one stands for every further argument.
    pub parameters: Vec<DataType>,
    /// How many arguments must be given: the others have defaults.
    pub required: usize,
    /// Whether the function ends in `*args`.
    pub varargs: bool,
    /// The type of the result, which may always be null.
    pub returns: DataType,
}

impl Signature {
    /// Reads the function's signature and checks it against the declaration. Where `parameters` or
    /// `returns` is `None`, the function's annotations declare.
    ///
    /// # Errors
    /// `TypeError` for parameters that cannot be passed by position, for a declaration of the wrong
    /// length, and for types that are not supported.
    pub fn read(
        name: &str,
        function: &Bound<'_, PyAny>,
        parameters: Option<Vec<Bound<'_, PyAny>>>,
        returns: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = function.py();
        let refuse = |text: String| Err(PyTypeError::new_err(format!("{name}: {text}")));
        if !function.is_callable() {
            return refuse(format!("{} is not callable", function.repr()?));
        }
        let inspect = py.import("inspect")?;
        let kinds = inspect.getattr("Parameter")?;
        let (mut annotations, mut required, mut varargs) = (Vec::new(), 0, false);
        let mut result = returns;
        match inspect.getattr("signature")?.call1((function,)) {
            Ok(signature) => {
                for parameter in
                    signature.getattr("parameters")?.call_method0("values")?.try_iter()?
                {
                    let parameter = parameter?;
                    let kind = parameter.getattr("kind")?;
                    let shown = parameter.getattr("name")?;
                    if kind.eq(kinds.getattr("KEYWORD_ONLY")?)? {
                        return refuse(format!(
                            "{shown} is keyword-only, and arguments are passed by position"
                        ));
                    }
                    if kind.eq(kinds.getattr("VAR_KEYWORD")?)? {
                        return refuse(format!(
                            "**{shown} cannot be filled: arguments are passed by position"
                        ));
                    }
                    if kind.eq(kinds.getattr("VAR_POSITIONAL")?)? {
                        varargs = true;
                    } else if parameter.getattr("default")?.is(kinds.getattr("empty")?) {
                        required += 1;
                    }
                    annotations.push((shown.to_string(), parameter.getattr("annotation")?));
                }
                if result.is_none() {
                    result = Some(signature.getattr("return_annotation")?);
                }
            }
            // Some C functions have no signature: the declaration is then all there is to go by.
            Err(error) if error.is_instance_of::<PyValueError>(py) && parameters.is_some() => {
                required = parameters.as_ref().map_or(0, Vec::len);
                annotations = vec![(String::new(), py.None().into_bound(py)); required];
            }
            Err(error) => return Err(error),
        }
        let empty = kinds.getattr("empty")?;
        let parameters = match parameters {
            Some(given) => given,
            None => {
                if let Some((missing, _)) = annotations.iter().find(|(_, a)| a.is(&empty)) {
                    return refuse(format!("declare the type of {missing}, or annotate it"));
                }
                annotations.iter().map(|(_, annotation)| annotation.clone()).collect()
            }
        };
        let Some(result) = result.filter(|annotation| !annotation.is(&empty)) else {
            return refuse("declare the type of its result, or annotate it".into());
        };
        let (given, takes) = (parameters.len(), annotations.len());
        if given < required || (given > takes && !varargs) {
            let plural = if takes == 1 { "" } else { "s" };
            return refuse(format!(
                "{given} argument types are declared, but the function takes {takes} argument{plural}"
            ));
        }
        if varargs && given == 0 {
            return refuse("declare the type of its *args".into());
        }
        let parameters = parameters.iter().map(declared).collect::<PyResult<_>>()?;
        Ok(Self { name: name.into(), parameters, required, varargs, returns: declared(&result)? })
    }

    /// The types of a call with `count` arguments.
    ///
    /// # Errors
    /// A text that says how many the function takes.
    pub fn types(&self, count: usize) -> Result<Vec<DataType>, String> {
        let most = self.parameters.len();
        let too_few = count < self.required;
        if too_few || (count > most && !self.varargs) {
            let takes = match (self.required, self.varargs) {
                (least, true) => format!("at least {least}"),
                (least, _) if least == most => format!("{most}"),
                (least, _) => format!("{least} to {most}"),
            };
            return Err(format!("{} takes {takes} arguments and got {count}", self.name));
        }
        Ok((0..count).map(|i| self.parameters[i.min(most - 1)].clone()).collect())
    }
}

/// The function's own name, for a decorator without one.
pub fn name_of(function: &Bound<'_, PyAny>) -> PyResult<String> {
    match function.getattr_opt("__name__")? {
        Some(name) => name.extract(),
        None => Err(PyTypeError::new_err(format!(
            "{} has no __name__; use create_function and give it one",
            function.repr()?
        ))),
    }
}

/// The options that only keywords give, checked against what exists.
pub fn choice<T: Copy>(
    options: Option<&Bound<'_, PyDict>>,
    key: &str,
    values: &[(&str, T)],
) -> PyResult<T> {
    let Some(value) = options.map(|o| o.get_item(key)).transpose()?.flatten() else {
        return Ok(values[0].1);
    };
    let text: String = value.extract().unwrap_or_default();
    values.iter().find(|(name, _)| *name == text.to_lowercase()).map(|(_, v)| *v).ok_or_else(|| {
        let known = values.iter().map(|(name, _)| format!("{name:?}")).collect::<Vec<_>>();
        let given = value.repr().map(|r| r.to_string()).unwrap_or_default();
        PyValueError::new_err(format!("{key} is {given}; it must be {}", known.join(" or ")))
    })
}
