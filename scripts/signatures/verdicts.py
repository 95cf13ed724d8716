#!/usr/bin/env python3
"""Holds what hammer said of signed files against what OpenSSL, pyHanko and EU DSS say of them: all accept what was left as it was, and none
what was altered. Run by pyHanko's own interpreter.

Arguments: the folder of the PKI (ca.pem, ca.crl); a PEM with the root of the embedded service's timestamps; DSS's URL; and for each service its
name, the folder of the files, and hammer's report.
"""
import asyncio
import base64
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from io import BytesIO

from asn1crypto import cms
from pyhanko.keys import load_cert_from_pemder, load_certs_from_pemder
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import async_validate_pdf_signature
from pyhanko.sign.validation.generic_cms import async_validate_cms_signature
from pyhanko.sign.validation.status import SignatureCoverageLevel, SignatureStatus
from pyhanko_certvalidator import ValidationContext

PKI, LAB_ROOTS, DSS_URL = sys.argv[1:4]
ROOT = load_cert_from_pemder(PKI + "/ca.pem")
STAMPED_BY = [ROOT, *load_certs_from_pemder([LAB_ROOTS])]
SIGNATURE_TIMESTAMP = bytes.fromhex("060b2a864886f70d010910020e")
with open(PKI + "/ca.crl", "rb") as crl_file:
    CRL = crl_file.read()
VERIFY = ["openssl", "cms", "-verify", "-binary", "-cades", "-inform", "DER", "-purpose", "any", "-out", os.devnull, "-CAfile", PKI + "/ca.pem"]


def parts_of(pdf):
    """The CMS of a signed document, and what it is over."""
    first, before, second, behind = map(int, re.search(rb"/ByteRange\s*\[\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)", pdf).groups())
    contents = bytes.fromhex(pdf[before + 1 : second - 1].decode())
    return contents[: 4 + int.from_bytes(contents[2:4], "big")], pdf[first : first + before] + pdf[second : second + behind]


def has_timestamp(file, is_pdf):
    return SIGNATURE_TIMESTAMP in (parts_of(file)[0] if is_pdf else file)


def openssl(file, is_pdf):
    with tempfile.TemporaryDirectory() as folder:
        path, content = os.path.join(folder, "cms"), os.path.join(folder, "content")
        signature, document = parts_of(file) if is_pdf else (file, None)
        with open(path, "wb") as out:
            out.write(signature)
        command = VERIFY + ["-in", path]
        if is_pdf:
            with open(content, "wb") as out:
                out.write(document)
            command += ["-content", content]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


async def pyhanko(file, is_pdf):
    context = ValidationContext(trust_roots=[ROOT], crls=[CRL], allow_fetching=False)
    if not is_pdf:
        # Of these it leaves timestamps to others.
        signed_data = cms.ContentInfo.load(file)["content"]
        status = await async_validate_cms_signature(signed_data, status_cls=SignatureStatus, validation_context=context)
        return status.intact and status.valid and status.trusted
    stamped = ValidationContext(trust_roots=STAMPED_BY, crls=[CRL], allow_fetching=False)
    (signature,) = PdfFileReader(BytesIO(file)).embedded_signatures
    status = await async_validate_pdf_signature(signature, context, ts_validation_context=stamped)
    timestamp = status.timestamp_validity
    is_stamped = timestamp is not None and timestamp.intact and timestamp.valid and timestamp.trusted
    return (
        status.coverage == SignatureCoverageLevel.ENTIRE_FILE
        and (status.intact and status.valid and status.trusted)
        and (is_stamped or not has_timestamp(file, is_pdf))
    )


def dss(file, is_pdf):
    name = "document.pdf" if is_pdf else "document.p7m"
    asked = {"signedDocument": {"bytes": base64.b64encode(file).decode(), "name": name}}
    request = urllib.request.Request(DSS_URL + "/validation/validateSignature", json.dumps(asked).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as answer:
        found = json.load(answer)["SimpleReport"]["signatureOrTimestampOrEvidenceRecord"]
    indications = [one["Signature"]["Indication"] for one in found if "Signature" in one]
    return indications == ["TOTAL_PASSED"]


async def said_of(verifier, file, is_pdf):
    """What a verifier says; one that cannot read a file does not accept it."""
    try:
        said = verifier(file, is_pdf)
        return await said if asyncio.iscoroutine(said) else said
    except urllib.error.URLError:
        raise
    except Exception as error:  # pylint: disable=broad-except
        print(f"{verifier.__name__}: {type(error).__name__}: {error}", file=sys.stderr)
        return False


async def main():
    verifiers, failed = [openssl, pyhanko, dss], False
    for name, folder, report in zip(*[iter(sys.argv[4:])] * 3):
        with open(report, encoding="utf-8") as written:
            told = json.load(written)
        names = sorted(os.listdir(folder))
        altered = {int(one.split(".")[0]) for one in names if ".altered." in one}
        broken, promises = {breach["seq"] for breach in told["breaches"]}, told["promises"]["all"]
        counts = (told["totals"]["all"]["offered"], promises["made"], promises["kept"], promises["broken"])
        if counts != (len(names), len(names), len(names) - len(altered), len(altered)) or broken != altered:
            print(f"{name}: hammer offered, was promised, found kept and broken {counts}, {sorted(broken)}; altered were {sorted(altered)} of {len(names)}")
            failed = True
        rows = {}
        for one in names:
            number, state, kind = one.split(".")
            with open(os.path.join(folder, one), "rb") as opened:
                file = opened.read()
            is_pdf, row = kind == "pdf", rows.setdefault(state, {"hammer": 0, "files": set(), "count": 0})
            row["files"].add(("pades" if is_pdf else "cades") + ("-t" if has_timestamp(file, is_pdf) else ""))
            row["count"] += 1
            row["hammer"] += int(number) not in broken
            for verifier in verifiers:
                accepted = await said_of(verifier, file, is_pdf)
                row[verifier.__name__] = row.get(verifier.__name__, 0) + accepted
                if accepted != (state == "right"):
                    print(f"{name}: {verifier.__name__} {'accepts' if accepted else 'refuses'} {one}")
                    failed = True
        for state, row in sorted(rows.items(), reverse=True):
            verdicts = ", ".join(f"{who} {row[who]}" for who in ["hammer"] + [verifier.__name__ for verifier in verifiers])
            print(f"{name:<8} {row['count']:3} {state:<8} accepted by {verdicts}  ({' '.join(sorted(row['files']))})")
            if len(row["files"]) != 4:
                print(f"{name}: not every kind is among those that are {state}")
                failed = True
        if set(rows) != {"right", "altered"}:
            failed = True
    sys.exit(failed)


# What is wrong is told by a verdict.
logging.disable(logging.CRITICAL)
asyncio.run(main())
