//! The form of a document (ISO 32000-1 section 12.7), in which alone readers look for signatures.

use super::fault::PdfFault;
use super::object::{Dictionary, Object};
use super::object_table::ObjectTable;
use super::shown::{dictionary, has_any};

/// A field that waits to be looked at.
#[derive(Clone, Copy)]
struct PendingField<'a> {
    field: Dictionary<'a>,
    /// Whether the one above it is for a signature, which it is as well unless it says otherwise.
    is_for_signature: bool,
}

/// The signature dictionary that a field of the catalog's form has.
///
/// # Errors
/// None, several, or a form that does more than hold one.
pub(super) fn signature<'a>(
    objects: &ObjectTable<'a>,
    catalog: Option<Dictionary<'a>>,
) -> Result<Dictionary<'a>, PdfFault> {
    let of_fields = of_fields(objects, catalog)?;
    let mut others = 0;
    for entry in objects.appended().filter(|entry| entry.offset.is_some()) {
        let Object::Dictionary(dictionary) = objects.object(entry.reference)? else { continue };
        let [range] = objects.values(dictionary, ["ByteRange"])?;
        let is_known = of_fields.iter().any(|known| std::ptr::eq(known.0, dictionary.0));
        others += usize::from(!range.is_null() && !is_known);
    }
    match (of_fields.as_slice(), others) {
        ([signature], 0) => Ok(*signature),
        ([], 0) => Err(PdfFault::Unsigned),
        ([], 1) => Err(PdfFault::NoField),
        _ => Err(PdfFault::Several),
    }
}

/// The signatures that fields have.
fn of_fields<'a>(
    objects: &ObjectTable<'a>,
    catalog: Option<Dictionary<'a>>,
) -> Result<Vec<Dictionary<'a>>, PdfFault> {
    let form = match catalog {
        Some(catalog) => objects.values(catalog, ["AcroForm"])?[0],
        None => Object::Null,
    };
    let Object::Dictionary(form) = objects.resolved(form)? else { return Ok(Vec::new()) };
    let [fields, other_form] = objects.values(form, ["Fields", "XFA"])?;
    // Readers show it in the place of the page (section 12.7.8).
    if has_any(objects, [other_form])? {
        return Err(PdfFault::Changed { what: "the form, which is shown instead" });
    }
    let (mut pending, mut signatures, mut count) = (Vec::new(), Vec::new(), 0);
    add(objects, &mut pending, fields, false)?;
    while let Some(PendingField { field, is_for_signature }) = pending.pop() {
        count += 1;
        if count + pending.len() > MOST_FIELDS {
            return Err(PdfFault::Malformed { what: "form" });
        }
        let [kind, value, kids, of_events] = objects.values(field, ["FT", "V", "Kids", "AA"])?;
        if has_any(objects, [of_events])? {
            return Err(PdfFault::Changed { what: "the form, which has an action" });
        }
        let kind = objects.resolved(kind)?;
        let is_for_signature = if kind.is_null() { is_for_signature } else { kind.is_name("Sig") };
        if is_for_signature && let Object::Dictionary(value) = objects.resolved(value)? {
            signatures.push(value);
        }
        add(objects, &mut pending, kids, is_for_signature)?;
    }
    Ok(signatures)
}

/// Adds the fields of an array.
fn add<'a>(
    objects: &ObjectTable<'a>,
    pending: &mut Vec<PendingField<'a>>,
    fields: Object<'a>,
    is_for_signature: bool,
) -> Result<(), PdfFault> {
    let Object::Array(fields) = objects.resolved(fields)? else { return Ok(()) };
    for field in objects.elements(fields)?.take(MOST_FIELDS + 1) {
        match field? {
            Object::Null => {}
            field => pending.push(PendingField { field: dictionary(field)?, is_for_signature }),
        }
    }
    Ok(())
}

/// A document that is signed here has one.
const MOST_FIELDS: usize = 64;
