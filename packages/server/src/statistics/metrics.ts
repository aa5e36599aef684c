import type { Events } from '@tollgate/oauth'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** The outcome of a request to a payment provider, for metrics. */
export interface ProviderCall {
  /** The provider that was called. */
  readonly provider: string
  /**
   * `ok` if the provider answered, even if it declined a card; `unavailable` if it did not, or asked
   * to try again later; `misconfigured` if it does not accept the API key.
   */
  readonly outcome: 'ok' | 'unavailable' | 'misconfigured'
}

/** The metrics of `GET /metrics`. `docs/reference/service.md` lists their names. */
export interface Metrics {
  /** The metrics of this process. */
  readonly registry: Registry
  /** Returns the metrics of the service as text, in the format of Prometheus. */
  read(): Promise<string>
  observeRequest(route: string, method: string, status: number, seconds: number): void
  countRefusal(policy: string): void
  countSignIn(outcome: 'succeeded' | 'failed'): void
  countProviderCall(call: ProviderCall): void
  /** Counts an attempt to send mail. */
  countMail(kind: string, outcome: string): void
  /** Counts a decision about use of a meter: `admitted`, or the reason of the refusal. */
  countDecision(meter: string, outcome: string): void
  follow(events: Events): void
}

/**
 * Name, help text and buckets of the histogram of response times, in `/metrics` and in OpenTelemetry.
 */
export const REQUEST_DURATION = {
  name: 'tollgate_request_duration_seconds',
  help: 'Time to respond in seconds, by route, method and status',
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
}

export function createMetrics(openConnections: () => number): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const requests = new Histogram({
    ...REQUEST_DURATION,
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const refusals = new Counter({
    name: 'tollgate_rate_limited_total',
    help: 'Requests rejected with 429, by endpoint',
    labelNames: ['where'],
    registers,
  })
  const signIns = new Counter({
    name: 'tollgate_sign_ins_total',
    help: 'Sign-ins with a password, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  const providerCalls = new Counter({
    name: 'tollgate_provider_calls_total',
    help: 'Requests to payment providers, by provider and outcome',
    labelNames: ['provider', 'outcome'],
    registers,
  })
  const mails = new Counter({
    name: 'tollgate_mails_total',
    help: 'Attempts to send mail, by kind and outcome: sent, failed (is retried) or rejected',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  const decisions = new Counter({
    name: 'tollgate_gate_decisions_total',
    help: 'Decisions about use of quotas over HTTP, by meter and outcome: admitted, or why not',
    labelNames: ['meter', 'outcome'],
    registers,
  })
  const issued = new Counter({
    name: 'tollgate_tokens_issued_total',
    help: 'Access tokens issued by this process',
    registers,
  })
  const revoked = new Counter({
    name: 'tollgate_tokens_revoked_total',
    help: 'Access tokens revoked by this process',
    registers,
  })
  const repeatedLate = new Counter({
    name: 'tollgate_late_refreshes_total',
    help: 'Refresh tokens that were reused long after their first use and got the same successor',
    registers,
  })
  new Gauge({
    name: 'tollgate_open_connections',
    help: 'Number of open connections',
    registers,
    collect() {
      this.set(openConnections())
    },
  })
  return {
    registry,
    read: () => registry.metrics(),
    observeRequest: (route, method, status, seconds) =>
      requests.observe({ route, method, status }, seconds),
    countRefusal: (where) => refusals.inc({ where }),
    countSignIn: (outcome) => signIns.inc({ outcome }),
    countProviderCall: ({ provider, outcome }) => providerCalls.inc({ provider, outcome }),
    countMail: (kind, outcome) => mails.inc({ kind, outcome }),
    countDecision: (meter, outcome) => decisions.inc({ meter, outcome }),
    follow(events) {
      events.on('AccessTokenCreated', () => issued.inc())
      events.on('AccessTokenRevoked', () => revoked.inc())
      events.on('RefreshTokenRepeatedLate', () => repeatedLate.inc())
    },
  }
}
