//! Whether a file shows what was sent: a revision that puts others in the place of its objects, or lays something over the page, shows another
//! document (ISO 32000-1 sections 7.7 and 12.5), and one that has an action does more than show.

use super::fault::PdfFault;
use super::object::{Dictionary, Object, Reference};
use super::object_table::ObjectTable;
use crate::document::object;

/// The catalog, where it was appended and has the pages of what was sent.
///
/// # Errors
/// What shows another document.
pub(super) fn check_shown<'a>(objects: &ObjectTable<'a>) -> Result<Option<Dictionary<'a>>, PdfFault> {
    if objects.root() != Some(Reference::to(object::CATALOG)) {
        return Err(PdfFault::Changed { what: "the catalog, in whose place is another" });
    }
    // Where something is not read, it may be there.
    let is_freed = |number: u64| (1..object::COUNT).contains(&number) && objects.unread().is_none();
    if objects.appended().any(|entry| entry.offset.is_none() && is_freed(entry.reference.number)) {
        return Err(PdfFault::Changed { what: "an object, which was freed" });
    }
    let catalog = objects.appended_object(object::CATALOG)?.map(dictionary).transpose()?;
    if let Some(catalog) = catalog {
        check_catalog(objects, catalog)?;
    }
    for number in [object::PAGES, object::CONTENT, object::FONT, object::FILLER, object::FILLER_LENGTH] {
        if let Some(appended) = objects.appended_object(number)?
            && !objects.is_same(appended, objects.sent_object(number)?)?
        {
            return Err(PdfFault::Changed { what: "an object of the page" });
        }
    }
    if let Some(page) = objects.appended_object(object::PAGE)? {
        check_page(objects, dictionary(page)?)?;
    }
    Ok(catalog)
}

fn check_catalog<'a>(objects: &ObjectTable<'a>, catalog: Dictionary<'a>) -> Result<(), PdfFault> {
    let [pages, names, of_open, of_events, collection, outline] =
        objects.values(catalog, ["Pages", "Names", "OpenAction", "AA", "Collection", "Outlines"])?;
    if !pages.is_reference_to(object::PAGES) {
        return Err(PdfFault::Changed { what: "the catalog, which names other pages" });
    }
    let script = match objects.resolved(names)? {
        Object::Dictionary(names) => objects.values(names, ["JavaScript"])?[0],
        _ => Object::Null,
    };
    if has_any(objects, [of_open, of_events, script])? {
        return Err(PdfFault::Changed { what: "the catalog, which has an action" });
    }
    if has_any(objects, [collection, outline])? {
        return Err(PdfFault::Changed { what: "the catalog, which shows more than pages" });
    }
    Ok(())
}

fn check_page<'a>(objects: &ObjectTable<'a>, page: Dictionary<'a>) -> Result<(), PdfFault> {
    let changed = |what| Err(PdfFault::Changed { what });
    let [kind, parent, kids, contents, resources, of_events, annotations] =
        objects.values(page, ["Type", "Parent", "Kids", "Contents", "Resources", "AA", "Annots"])?;
    if !objects.resolved(kind)?.is_name("Page") || !parent.is_reference_to(object::PAGES) {
        return changed("the page, which stands elsewhere");
    }
    if !objects.resolved(kids)?.is_null() {
        return changed("the page, which stands elsewhere");
    }
    if !is_content_kept(objects, contents)? {
        return changed("the page, which names another content");
    }
    if !is_box_kept(objects, page)? {
        return changed("the page, whose box or rotation is another");
    }
    if !are_resources_kept(objects, resources)? {
        return changed("the page, whose resources are others");
    }
    if has_any(objects, [of_events])? {
        return changed("the page, which has an action");
    }
    let Object::Array(annotations) = objects.resolved(annotations)? else { return Ok(()) };
    for annotation in objects.elements(annotations)? {
        match annotation? {
            Object::Null => {}
            annotation => check_annotation(objects, dictionary(annotation)?)?,
        }
    }
    Ok(())
}

/// Whether the content is that of the page that was sent, alone in an array or not.
fn is_content_kept<'a>(objects: &ObjectTable<'a>, contents: Object<'a>) -> Result<bool, PdfFault> {
    if let Object::Reference(reference) = contents {
        // One that leads to nothing is another content as well.
        if reference.number == object::CONTENT {
            return Ok(contents.is_reference_to(object::CONTENT));
        }
    }
    let Object::Array(parts) = objects.resolved(contents)? else { return Ok(false) };
    let mut parts = parts.elements();
    let first = parts.next().transpose()?;
    Ok(first.is_some_and(|part| part.is_reference_to(object::CONTENT)) && parts.next().is_none())
}

/// Whether as much of the page is shown, and as it was (section 14.11.2).
fn is_box_kept<'a>(objects: &ObjectTable<'a>, page: Dictionary<'a>) -> Result<bool, PdfFault> {
    let [media, crop, turn, unit] = objects.values(page, ["MediaBox", "CropBox", "Rotate", "UserUnit"])?;
    let sent = object::MEDIA_BOX.map(|side| side as f64);
    let is_cut = match objects.resolved(crop)? {
        Object::Null => false,
        crop => objects.rectangle(crop)?.is_none_or(|[left, bottom, right, top]| {
            left > sent[0] || bottom > sent[1] || right < sent[2] || top < sent[3]
        }),
    };
    let is_number = |object: Object<'a>, is_kept: fn(f64) -> bool| -> Result<bool, PdfFault> {
        let object = objects.resolved(object)?;
        Ok(object.is_null() || object.number().is_some_and(is_kept))
    };
    Ok(objects.rectangle(media)? == Some(sent)
        && !is_cut
        && is_number(turn, |degrees| degrees % 360.0 == 0.0)?
        && is_number(unit, |unit| unit == 1.0)?)
}

/// Whether the content means what it did: by the font that was sent, and in colours that nothing defines anew (section 8.6.5.6).
fn are_resources_kept<'a>(objects: &ObjectTable<'a>, resources: Object<'a>) -> Result<bool, PdfFault> {
    let Object::Dictionary(resources) = objects.resolved(resources)? else { return Ok(false) };
    let [fonts, colours] = objects.values(resources, ["Font", "ColorSpace"])?;
    let are_colours_kept = match objects.resolved(colours)? {
        Object::Null => true,
        Object::Dictionary(colours) => colours.entries().next().is_none(),
        _ => false,
    };
    let Object::Dictionary(fonts) = objects.resolved(fonts)? else { return Ok(false) };
    let [font] = objects.values(fonts, [object::FONT_NAME])?;
    let is_font_kept =
        font.is_reference_to(object::FONT) || objects.is_same(font, objects.sent_object(object::FONT)?)?;
    Ok(are_colours_kept && is_font_kept)
}

/// Of a field that is signed there is a widget (section 12.5.6.19), which shows nothing that was not asked for; nobody asked for another annotation.
fn check_annotation<'a>(objects: &ObjectTable<'a>, annotation: Dictionary<'a>) -> Result<(), PdfFault> {
    let [subtype, rectangle, flags, look, colours, action, of_events] =
        objects.values(annotation, ["Subtype", "Rect", "F", "AP", "MK", "A", "AA"])?;
    if !objects.resolved(subtype)?.is_name("Widget") {
        return Err(PdfFault::Changed { what: "the page, which has an annotation" });
    }
    if has_any(objects, [action, of_events])? {
        return Err(PdfFault::Changed { what: "the page, which has an action" });
    }
    let is_hidden = matches!(objects.resolved(flags)?, Object::Integer(flags) if flags & HIDDEN != 0);
    let has_area = match objects.resolved(rectangle)? {
        Object::Null => false,
        // Readers make what they like of one that is none.
        rectangle => objects
            .rectangle(rectangle)?
            .is_none_or(|[left, bottom, right, top]| left < right && bottom < top),
    };
    // Readers draw the values of other fields themselves.
    let is_drawn = has_any(objects, [look, colours])? || !is_of_signature(objects, annotation)?;
    if has_area && !is_hidden && is_drawn {
        return Err(PdfFault::Changed { what: "the page, which shows a field" });
    }
    Ok(())
}

/// Whether the field of a widget is one for a signature, by itself or by one above it.
fn is_of_signature<'a>(objects: &ObjectTable<'a>, widget: Dictionary<'a>) -> Result<bool, PdfFault> {
    let mut field = widget;
    for _ in 0..MOST_PARENTS {
        let [kind, parent] = objects.values(field, ["FT", "Parent"])?;
        let kind = objects.resolved(kind)?;
        if !kind.is_null() {
            return Ok(kind.is_name("Sig"));
        }
        let Object::Dictionary(parent) = objects.resolved(parent)? else { return Ok(false) };
        field = parent;
    }
    Ok(false)
}

/// Whether one of them is there.
pub(super) fn has_any<'a, const N: usize>(
    objects: &ObjectTable<'a>,
    values: [Object<'a>; N],
) -> Result<bool, PdfFault> {
    for value in values {
        if !objects.resolved(value)?.is_null() {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn dictionary(object: Object<'_>) -> Result<Dictionary<'_>, PdfFault> {
    match object {
        Object::Dictionary(dictionary) => Ok(dictionary),
        _ => Err(PdfFault::Malformed { what: "object" }),
    }
}

/// The flag of an annotation that is neither shown nor printed (section 12.5.3).
const HIDDEN: i64 = 2;
/// A field of a signature is at the top, or its widget one below it.
const MOST_PARENTS: usize = 8;
