//! Files of fluid models: any text is rejected with a reason and a place, or yields a model that can be solved.

use scenario::FluidFile;

/// Fails on a text that violates the property.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match FluidFile::parse(text, "fuzz.toml", &[]) {
        Err(errors) => {
            assert!(!errors.errors.is_empty(), "a refusal says why");
            for error in &errors.errors {
                assert!(!error.message.is_empty() && error.span.end <= text.len(), "{error}");
            }
        }
        Ok(file) => {
            let model = file.model();
            let mut state = vec![0.0; model.variables().len()];
            model.history(0.0, &mut state);
            for (variable, value) in model.variables().iter().zip(state) {
                assert!(variable.scale > 0.0 && variable.scale.is_finite(), "{variable:?}");
                assert!((variable.floor..=variable.ceiling).contains(&value), "{variable:?} begins at {value}");
            }
            assert!(model.delays().iter().all(|delay| (0.0..f64::INFINITY).contains(&delay.longest())), "{file:?}");
        }
    }
}
