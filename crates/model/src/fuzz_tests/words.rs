//! Permanent words: statuses and error codes.

use crate::{ErrorCode, RunStatus, StepStatus};

#[test]
fn words_round_trip() {
    super::check_text("words", |text| {
        let (run, step) = (text.parse::<RunStatus>(), text.parse::<StepStatus>());
        if let Ok(status) = &run {
            assert_eq!(status.to_string().parse(), Ok(*status));
            assert_eq!(RunStatus::from_code(status.code()), Some(*status));
        }
        if let Ok(status) = &step {
            assert_eq!(status.to_string().parse(), Ok(*status));
        }
        let code = ErrorCode::parse(text);
        if let Some(code) = code {
            assert_eq!(code.as_str(), text);
        }
        (run.is_ok(), step.is_ok(), code.is_some())
    });
}
