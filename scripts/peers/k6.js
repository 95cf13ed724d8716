// One GET again and again, by VUS users; RATE a second of them where it is given.
import http from "k6/http";

const { URL, RATE, SECONDS, VUS } = __ENV;
const users = Number(VUS);
const duration = `${SECONDS}s`;

export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ["med", "p(99)", "p(99.9)", "max"],
  scenarios: {
    load: RATE
      ? {
          executor: "constant-arrival-rate",
          rate: Number(RATE),
          timeUnit: "1s",
          duration,
          preAllocatedVUs: users,
          maxVUs: users,
        }
      : { executor: "constant-vus", vus: users, duration },
  },
};

export default function () {
  http.get(URL);
}

export function handleSummary({ metrics, state }) {
  const kept = ["http_reqs", "http_req_failed", "http_req_duration", "dropped_iterations"];
  const figures = kept.filter((name) => metrics[name]).map((name) => [name, metrics[name].values]);
  return { stdout: JSON.stringify({ state, metrics: Object.fromEntries(figures) }) };
}
