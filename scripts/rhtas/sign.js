// A sign flow as the published k6 script has it: five requests, of which two go to the helper; a failed check skips the rest.
import http from "k6/http";
import encoding from "k6/encoding";
import { check, fail } from "k6";
import { Counter } from "k6/metrics";

const { FULCIO_URL, REKOR_URL, HELPER_URL, OIDC_TOKEN, VUS, LENGTH } = __ENV;
const flows = new Counter("flows");

export const options = {
  scenarios: { sign: { executor: "constant-vus", vus: Number(VUS), duration: `${LENGTH}s`, gracefulStop: "60s" } },
  summaryTrendStats: ["med", "p(95)", "p(99)", "max"],
};

const json = { headers: { "Content-Type": "application/json" } };

function expect(answer, status, step) {
  if (!check(answer, { [step]: (got) => got.status === status })) {
    fail(`${step}: ${answer.status}`);
  }
  return answer;
}

export default function () {
  const made = expect(http.get(`${HELPER_URL}/generate-payloads`), 200, "payloads").json();
  const authorized = { headers: { "Content-Type": "application/json", Authorization: `Bearer ${OIDC_TOKEN}` } };
  const wanted = { publicKey: { content: made.publicKey, algorithm: "ecdsa" }, signedEmailAddress: made.proof };
  const chain = expect(http.post(`${FULCIO_URL}/api/v1/signingCert`, JSON.stringify(wanted), authorized), 201, "fulcio").body;
  const leaf = chain.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/)[0];
  const entry = {
    apiVersion: "0.0.1",
    kind: "hashedrekord",
    spec: {
      signature: { content: made.signature, publicKey: { content: encoding.b64encode(`${leaf}\n`) } },
      data: { hash: { algorithm: "sha256", value: made.hash } },
    },
  };
  expect(http.post(`${REKOR_URL}/api/v1/log/entries`, JSON.stringify(entry), json), 201, "rekor");
  const asked = JSON.stringify({ signature: made.signature });
  const timestamp = expect(
    http.post(`${HELPER_URL}/get-timestamp`, asked, { ...json, responseType: "binary" }),
    200,
    "timestamp",
  );
  const logged = { apiVersion: "0.0.1", kind: "rfc3161", spec: { tsr: { content: encoding.b64encode(timestamp.body) } } };
  expect(http.post(`${REKOR_URL}/api/v1/log/entries`, JSON.stringify(logged), json), 201, "rekor-timestamp");
  flows.add(1);
}

export function handleSummary({ metrics, state }) {
  const kept = ["flows", "http_reqs", "http_req_duration"];
  const figures = kept.filter((name) => metrics[name]).map((name) => [name, metrics[name].values]);
  return { stdout: JSON.stringify({ state, metrics: Object.fromEntries(figures) }) };
}
