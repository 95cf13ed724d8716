#!/usr/bin/env python3
"""A service of pyHanko on loopback that speaks Rest PKI's API of version 1 (1.13).

Arguments: a folder with ca.pem, tsa.pem and tsa.key; a port; a file that holds the access token.
"""
import asyncio
import base64
import hashlib
import itertools
import json
import os
import sys
import uuid
from datetime import datetime, timezone
from io import BytesIO

from aiohttp import web
from asn1crypto import algos, cms, core, tsp, x509
from cryptography import x509 as verifying
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding
from pyhanko.keys import load_cert_from_pemder, load_private_key_from_pemder
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign import fields, signers, timestamps
from pyhanko.sign.signers import pdf_cms
from pyhanko.sign.signers.pdf_signer import PdfTBSDocument
from pyhanko.sign.validation import async_validate_detached_cms, async_validate_pdf_signature
from pyhanko.sign.validation.errors import SignatureValidationError
from pyhanko_certvalidator import ValidationContext
from pyhanko_certvalidator.registry import SimpleCertificateStore

FOLDER, PORT, TOKEN_FILE = sys.argv[1], int(sys.argv[2]), sys.argv[3]
CA = load_cert_from_pemder(FOLDER + "/ca.pem")
CA_KEY = verifying.load_der_x509_certificate(CA.dump()).public_key()
ISSUERS = SimpleCertificateStore.from_certs([CA])
TIMESTAMPS = timestamps.DummyTimeStamper(
    load_cert_from_pemder(FOLDER + "/tsa.pem"),
    load_private_key_from_pemder(FOLDER + "/tsa.key", None),
    certs_to_embed=ISSUERS,
)
with open(TOKEN_FILE, encoding="ascii") as token_file:
    AUTHORIZATION = "Bearer " + token_file.read().strip()

SHA_256 = "2.16.840.1.101.3.4.2.1"
PART = 1 << 20
# Signature policies, and whether they ask for a timestamp.
CADES = {
    "a4522485-c9e5-46c3-950b-0d6e951e17d1": False,
    "3ddd8001-1672-4eb5-a4a2-6e32b17ddc46": False,
    "a5332ad1-d105-447c-a4bb-b5d02177e439": True,
}
PADES = {
    "78d20b33-014d-440e-ad07-929f05d00cdf": False,
    "3fec800c-366c-49bf-82c5-2e72154e70f6": False,
    "6a39aeea-a2d0-4754-bf8c-19da15296ddb": True,
    "10f0d9a5-a0a9-42e9-9523-e181ce05a25b": True,
}

# What was started and not finished, by its token; documents that were uploaded, and results that are fetched.
started = {}
parts = {}
blobs = {}
counts = {}
routes = web.RouteTableDef()


class Refusal(Exception):
    """An answer that is no success."""

    def __init__(self, status, body):
        super().__init__(status)
        self.status, self.body = status, body


def invalid(kind, message):
    errors = [{"type": kind, "message": message, "detail": None, "innerValidationResults": None}]
    results = {"errors": errors, "warnings": [], "passedChecks": []}
    return Refusal(422, {"code": "ValidationError", "message": "Validation failed", "validationResults": results})


def code(name, detail=None):
    return Refusal(422, {"code": name, "detail": detail})


def text(octets):
    return base64.b64encode(octets).decode()


def octets(written):
    return base64.b64decode(written)


def api(method, path):
    """An operation that JSON goes into, and JSON or an answer comes out of."""

    def of(operation):
        async def handled(request):
            name = method + " " + path
            if request.headers.get("Authorization") != AUTHORIZATION:
                return answered(name, 401, {"message": "Authorization has been denied for this request."})
            try:
                body = None
                if request.content_type == "application/json" and request.can_read_body:
                    raw = await request.read()
                    body = json.loads(raw) if raw else None
                came = await operation(request, body)
                if isinstance(came, web.StreamResponse):
                    count(name, came.status)
                    return came
                return answered(name, 200, came)
            except Refusal as refusal:
                return answered(name, refusal.status, refusal.body)

        routes.route(method, path)(handled)
        return handled

    return of


def count(name, status):
    key = f"{name} {status}"
    counts[key] = counts.get(key, 0) + 1


def answered(name, status, body):
    count(name, status)
    return web.json_response(body, status=status)


def certificate_of(written):
    """The certificate of a caller, who has to be of the root and within its validity."""
    try:
        certificate = x509.Certificate.load(octets(written))
        parsed = verifying.load_der_x509_certificate(certificate.dump())
    except ValueError as why:
        raise code("InvalidCertificate", str(why)) from why
    try:
        CA_KEY.verify(
            parsed.signature, parsed.tbs_certificate_bytes, padding.PKCS1v15(), parsed.signature_hash_algorithm
        )
    except InvalidSignature as why:
        raise invalid("CertificateChainRootNotTrusted", "The certificate leads to no trusted root") from why
    if not parsed.not_valid_before_utc <= datetime.now(timezone.utc) <= parsed.not_valid_after_utc:
        raise invalid("CertificateExpired", "The certificate is out of its validity")
    return certificate


def is_rsa(certificate):
    return certificate.public_key.algorithm == "rsa"


def verify(certificate, signed, signature):
    key = verifying.load_der_x509_certificate(certificate.dump()).public_key()
    try:
        if is_rsa(certificate):
            key.verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
        else:
            key.verify(signature, signed, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature as why:
        raise invalid("SignatureAlgorithmValidationFailed", "The signature does not match") from why


def signer(certificate, signature):
    """A signer whose signature is known, or whose length alone is."""
    mechanism = "sha256_rsa" if is_rsa(certificate) else "sha256_ecdsa"
    return signers.ExternalSigner(
        signing_cert=certificate,
        cert_registry=ISSUERS,
        signature_value=signature,
        signature_mechanism=algos.SignedDigestAlgorithm({"algorithm": mechanism}),
    )


def model(certificate):
    def name(of):
        return {"commonName": of.native.get("common_name"), "organization": of.native.get("organization_name")}

    return {
        "subjectName": name(certificate.subject),
        "issuerName": name(certificate.issuer),
        "serialNumber": str(certificate.serial_number),
        "validityStart": certificate.not_valid_before.isoformat(),
        "validityEnd": certificate.not_valid_after.isoformat(),
    }


def document(file):
    if not file:
        raise Refusal(400, {"message": "file is required"})
    if not file.get("blobToken"):
        return octets(file["content"])
    if file["blobToken"] not in blobs:
        raise code("BlobNotFound", file["blobToken"])
    return blobs[file["blobToken"]]


def file_model(content, media_type, is_blob):
    if not is_blob:
        return {"mimeType": media_type, "content": text(content), "blobToken": None, "url": None}
    token = uuid.uuid4().hex
    blobs[token] = content
    return {"mimeType": media_type, "content": None, "blobToken": token, "url": "Api/Blobs/" + token}


def start(to_be_signed, **state):
    token = uuid.uuid4().hex
    started[token] = {"signed": to_be_signed, **state}
    return {
        "token": token,
        "toSignData": text(to_be_signed),
        "toSignHash": text(hashlib.sha256(to_be_signed).digest()),
        "digestAlgorithmOid": SHA_256,
    }


def finished(request):
    """What was started by the token of the path; it is of use once."""
    state = started.pop(request.match_info["token"], None)
    if state is None:
        raise code("TokenNotFound")
    return state


def passed(certificate):
    checks = [{"type": "Success", "message": "Signature", "detail": None, "innerValidationResults": None}]
    results = {"errors": [], "warnings": [], "passedChecks": checks}
    return {"certificate": model(certificate), "validationResults": results}


@api("GET", "/Api/System/Info")
async def info(_request, _body):
    return {"productName": "REST PKI", "productVersion": "1.13.2"}


@api("GET", "/Api/Authentication")
async def nonce(_request, _body):
    nonce = os.urandom(32)
    started[text(nonce)] = {"signed": nonce}
    return {"nonce": text(nonce)}


@api("POST", "/Api/Authentication")
async def log_in(_request, body):
    if started.pop(body["nonce"], None) is None:
        raise invalid("UncertifiedDateReference", "The nonce is unknown or was used")
    certificate = certificate_of(body["certificate"])
    verify(certificate, octets(body["nonce"]), octets(body["signature"]))
    return passed(certificate)


@api("POST", "/Api/Authentications")
async def start_login(_request, _body):
    return start(os.urandom(32))


@api("POST", "/Api/Authentications/{token}/SignedBytes")
async def finish_login(request, body):
    state = finished(request)
    certificate = certificate_of(body["certificate"])
    verify(certificate, state["signed"], octets(body["signature"]))
    return passed(certificate)


@api("POST", "/Api/v3/CadesSignatures")
async def start_cades(_request, body):
    if body.get("signaturePolicyId") not in CADES:
        raise code("SignaturePolicyNotFound", body.get("signaturePolicyId"))
    certificate = certificate_of(body["certificate"])
    content = document(body.get("fileToSign"))
    attributes = await signer(certificate, bytes(256)).signed_attrs(
        hashlib.sha256(content).digest(),
        "sha256",
        attr_settings=pdf_cms.PdfCMSSignedAttributes(signing_time=datetime.now(timezone.utc).replace(microsecond=0)),
        use_pades=False,
        is_pdf_sig=False,
        content_type="data",
    )
    return start(
        encoded(attributes),
        certificate=certificate,
        attributes=attributes,
        content=content if body.get("encapsulateContent", True) else None,
        has_timestamp=CADES[body["signaturePolicyId"]],
    )


def encoded(attributes):
    return attributes.untag().dump() if hasattr(attributes, "untag") else attributes.dump()


@api("POST", "/Api/v2/CadesSignatures/{token}/SignedBytes")
async def finish_cades(request, body):
    state = finished(request)
    certificate, signature = state["certificate"], octets(body["signature"])
    verify(certificate, state["signed"], signature)
    content = {"content_type": "data"}
    if state["content"] is not None:
        content["content"] = core.OctetString(state["content"])
    signed = await signer(certificate, signature).async_sign_prescribed_attributes(
        "sha256",
        signed_attrs=state["attributes"],
        cms_version="v1",
        encap_content_info=content,
        timestamper=TIMESTAMPS if state["has_timestamp"] else None,
    )
    file = file_model(signed.dump(), "application/pkcs7-signature", body.get("forceBlobResult"))
    return {"signatureFile": file, "certificate": model(certificate), "callbackArgument": None}


@api("POST", "/Api/v2/PadesSignatures")
async def start_pades(_request, body):
    if body.get("signaturePolicyId") not in PADES:
        raise code("SignaturePolicyNotFound", body.get("signaturePolicyId"))
    certificate, has_timestamp = certificate_of(body["certificate"]), PADES[body["signaturePolicyId"]]
    of = signer(certificate, bytes(256))
    pdf = signers.PdfSigner(
        signers.PdfSignatureMetadata(
            field_name="Signature1", md_algorithm="sha256", subfilter=fields.SigSeedSubFilter.PADES
        ),
        signer=of,
        timestamper=TIMESTAMPS if has_timestamp else None,
    )
    prepared, tbs, file = await pdf.async_digest_doc_for_signing(
        IncrementalPdfFileWriter(BytesIO(document(body.get("pdfToSign")))), bytes_reserved=32768
    )
    attributes = await of.signed_attrs(prepared.document_digest, "sha256", use_pades=True)
    return start(
        encoded(attributes),
        certificate=certificate,
        attributes=attributes,
        has_timestamp=has_timestamp,
        prepared=prepared,
        after=tbs.post_sign_instructions,
        file=file,
    )


@api("POST", "/Api/v2/PadesSignatures/{token}/SignedBytes")
async def finish_pades(request, body):
    state = finished(request)
    certificate, signature = state["certificate"], octets(body["signature"])
    verify(certificate, state["signed"], signature)
    signed = await signer(certificate, signature).async_sign_prescribed_attributes(
        "sha256",
        signed_attrs=state["attributes"],
        timestamper=TIMESTAMPS if state["has_timestamp"] else None,
    )
    await PdfTBSDocument.async_finish_signing(
        state["file"], state["prepared"], signed, post_sign_instr=state["after"]
    )
    file = file_model(state["file"].getvalue(), "application/pdf", body.get("forceBlobResult"))
    return {"signatureFile": file, "certificate": model(certificate), "callbackArgument": None}


def opened(errors):
    """A signature in a file that was validated, and what is wrong with it."""
    def item(kind, message):
        return {"type": kind, "message": message, "detail": None, "innerValidationResults": None}

    passed = [] if errors else [item("Success", "Signature")]
    results = {"errors": [item(*error) for error in errors], "warnings": [], "passedChecks": passed}
    return {"signingTime": None, "certificate": None, "timestamps": [], "validationResults": results}


async def errors_of(validation):
    """What is wrong with a signature that pyHanko validates."""
    try:
        status = await validation
    except (SignatureValidationError, ValueError) as why:
        return [("InvalidSignature", str(why))]
    errors = []
    if not status.intact:
        errors.append(("MessageDigestMismatch", "The message digest does not match"))
    if not status.valid:
        errors.append(("SignatureAlgorithmValidationFailed", "The signature does not match"))
    if not status.trusted:
        errors.append(("CertificateChainRootNotTrusted", "The certificate leads to no trusted root"))
    if not errors and not status.bottom_line:
        errors.append(("InvalidSignature", "A timestamp or a revision behind the signature does not pass"))
    return errors


def roots():
    return ValidationContext(trust_roots=[CA], allow_fetching=False)


@api("POST", "/Api/CadesSignatures/Open")
async def open_cades(_request, body):
    try:
        content = cms.ContentInfo.load(document(body.get("file")))
        signed = content["content"] if content["content_type"].native == "signed_data" else None
        enveloped = signed["encap_content_info"]["content"].native if signed else None
    except (ValueError, TypeError) as why:
        raise code("InvalidCms", str(why)) from why
    if enveloped is None:
        raise code("InvalidCms", "there is no content")
    # A timestamp is looked at beside what is signed alone.
    signed["encap_content_info"] = {"content_type": "data"}
    errors = await errors_of(async_validate_detached_cms(enveloped, signed, roots(), roots()))
    return {"signers": [opened(errors)], "encapsulatedContentType": "Data", "hasEncapsulatedContent": True}


@api("POST", "/Api/PadesSignatures/Open")
async def open_pades(_request, body):
    try:
        signatures = PdfFileReader(BytesIO(document(body.get("file")))).embedded_signatures
    except (PdfError, ValueError) as why:
        raise code("InvalidPdf", str(why)) from why
    signers_of = [opened(await errors_of(async_validate_pdf_signature(each, roots(), roots()))) for each in signatures]
    for each, signature in zip(signers_of, signatures):
        each |= {"isDocumentTimestamp": False, "signatureFieldName": signature.field_name}
    return {"signers": signers_of}


@api("POST", "/Api/TimestampPlans/{plan}/Issue")
async def timestamp(_request, body):
    token = await TIMESTAMPS.async_timestamp(octets(body["value"]), body["algorithm"].lower())
    told = token["content"]["encap_content_info"]["content"].parsed
    info = {"genTime": told["gen_time"].native.isoformat(), "serialNumber": str(told["serial_number"].native)}
    return {"encodedValue": text(token.dump()), "info": info}


class RejectedResponse(core.Sequence):
    """A TimeStampResp without a token, which asn1crypto's own has to have."""

    _fields = [("status", tsp.PKIStatusInfo)]


def rejection(failure, why):
    status = tsp.PKIStatusInfo({"status": "rejection", "status_string": [why], "fail_info": {failure}})
    return RejectedResponse({"status": status})


def response(der):
    """What a query is answered with (RFC 3161 section 2.4)."""
    try:
        query = tsp.TimeStampReq.load(der, strict=True)
        imprint = query["message_imprint"]
        algorithm = imprint["hash_algorithm"]["algorithm"].native
        length, _nonce = len(imprint["hashed_message"].native), query["nonce"].native
    except (ValueError, TypeError):
        return rejection("bad_data_format", "the query cannot be read")
    if algorithm not in ("sha256", "sha384", "sha512"):
        return rejection("bad_alg", "the hash is none of SHA-2")
    if length != hashlib.new(algorithm).digest_size:
        return rejection("bad_data_format", "the imprint is not as long as its hash")
    return TIMESTAMPS.request_tsa_response(query)


@api("POST", "/tsa")
async def timestamp_query(request, _body):
    if request.content_type != "application/timestamp-query":
        raise Refusal(415, {"message": "a timestamp is asked for by application/timestamp-query"})
    der = response(await request.read()).dump()
    return web.Response(body=der, content_type="application/timestamp-reply")


@api("POST", "/Api/MultipartUploads")
async def begin_upload(_request, _body):
    token = uuid.uuid4().hex
    parts[token] = {}
    return {"blobToken": token, "partSize": PART}


@api("POST", "/Api/MultipartUploads/{token}/{number}")
async def upload(request, _body):
    content = await request.read()
    of = parts.get(request.match_info["token"])
    if of is None:
        raise code("BlobNotFound", request.match_info["token"])
    of[int(request.match_info["number"])] = content
    return web.Response(headers={"ETag": '"' + hashlib.md5(content).hexdigest() + '"'})


@api("POST", "/Api/MultipartUploads/{token}")
async def end_upload(request, _body):
    token = request.match_info["token"]
    of = parts.pop(token, None)
    if of is None:
        raise code("BlobNotFound", token)
    blobs[token] = b"".join(of[number] for number in itertools.takewhile(of.__contains__, itertools.count()))
    return {}


@api("GET", "/Api/Blobs/{token}")
async def blob(request, _body):
    if request.match_info["token"] not in blobs:
        raise Refusal(404, {"message": "no such blob"})
    return web.Response(body=blobs[request.match_info["token"]])


@routes.get("/counts")
async def counted(_request):
    return web.json_response(counts)


async def main():
    application = web.Application(client_max_size=1 << 28)
    application.add_routes(routes)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", PORT, backlog=1024).start()
    await asyncio.Event().wait()


asyncio.run(main())
