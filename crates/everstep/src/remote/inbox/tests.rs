//! Tests of the order of messages.

use everstep_model::RecordNumber;

use super::*;

fn next(inbox: &Inbox) -> Option<Message> {
    match inbox.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(message) => Some(message),
        Poll::Pending => None,
    }
}

#[test]
fn news_waits_for_the_answers_before_it() {
    let inbox = Inbox::default();
    inbox.news(1, Message::Resumed);
    assert_eq!(next(&inbox), None);
    let answer = Message::Appended {
        first: RecordNumber(1),
        before: Vec::new(),
        records: Vec::new(),
    };
    inbox.answer(answer.clone());
    assert_eq!(next(&inbox), Some(answer));
    assert_eq!(next(&inbox), Some(Message::Resumed));
    assert_eq!(next(&inbox), None);
}

#[test]
fn a_lost_run_overtakes_all_other_messages() {
    let inbox = Inbox::default();
    inbox.news(5, Message::Grew);
    inbox.news(7, Message::Lost);
    assert_eq!(next(&inbox), Some(Message::Lost));
}
