//! What a person may say of slices without an owner, which the rules keep.

use std::sync::Arc;

use eno_shared::api::{Composition, ResourceSlice};
use eno_shared::fixtures::{self, ago, delete, now, synthesis};
use eno_shared::judge::unowned_and_unreferred;
use eno_shared::{Compositions, Lookup};

fn unowned() -> ResourceSlice {
    let mut slice = fixtures::slice("web-a", &fixtures::composition("web"));
    slice.metadata.owner_references.clear();
    slice
}

fn among(composition: Composition) -> Compositions {
    Compositions::whole([(composition.metadata.name.clone(), Lookup::Found(Arc::new(composition)))])
}

#[test]
fn what_nothing_refers_to_may_be_called_garbage() {
    assert!(unowned_and_unreferred(&unowned(), &among(fixtures::composition("web")), now()));
}

#[test]
fn what_any_synthesis_lists_may_not() {
    let lists: [fn(&mut Composition); 3] = [
        |web| web.status.current_synthesis = Some(synthesis("s", &["web-a"])),
        |web| web.status.previous_synthesis = Some(synthesis("s", &["web-a"])),
        |web| web.status.in_flight_synthesis = Some(synthesis("s", &["web-a"])),
    ];
    for list in lists {
        let mut web = fixtures::composition("web");
        list(&mut web);
        assert!(!unowned_and_unreferred(&unowned(), &among(web), now()));
    }
}

#[test]
fn what_cannot_be_told_may_not() {
    let partial = Compositions::partial([], "forbidden");
    assert!(!unowned_and_unreferred(&unowned(), &partial, now()));
    let unread = Compositions::whole([("web".to_owned(), Lookup::Unknown("it does not decode".to_owned()))]);
    assert!(!unowned_and_unreferred(&unowned(), &unread, now()));
}

#[test]
fn what_is_new_or_owned_or_terminating_may_not() {
    let none = Compositions::whole([]);
    let mut new = unowned();
    new.metadata.creation_timestamp = Some(ago(1));
    assert!(!unowned_and_unreferred(&new, &none, now()));
    new.metadata.creation_timestamp = None;
    assert!(!unowned_and_unreferred(&new, &none, now()));
    let owned = fixtures::slice("web-a", &fixtures::composition("web"));
    assert!(!unowned_and_unreferred(&owned, &none, now()));
    let mut terminating = unowned();
    delete(&mut terminating.metadata);
    assert!(!unowned_and_unreferred(&terminating, &none, now()));
}
