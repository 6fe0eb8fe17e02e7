//! Words that stand for something: statuses and error codes.

use crate::{ErrorCode, RunStatus, StepStatus};

#[test]
fn a_word_means_what_is_written_as_that_word() {
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
