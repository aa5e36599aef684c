import { context, metrics, propagation, trace } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runFlowWithSecrets } from './flow-with-secrets.ts'
import { startTestService, type TestService } from './support.ts'

const spansOut = new InMemorySpanExporter()
const metricsOut = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const tracerProvider = new NodeTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(spansOut)],
})
const meterProvider = new MeterProvider({
  readers: [new PeriodicExportingMetricReader({ exporter: metricsOut })],
})

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'
const traceparent = `00-${TRACE}-${CALLER}-01`

const idOf = (span?: ReadableSpan) => span?.spanContext().spanId
const spansNamed = (name: string) =>
  spansOut.getFinishedSpans().filter((span) => span.name === name)

describe('the service in a process with an OpenTelemetry SDK', () => {
  let service: TestService
  let secrets: readonly string[] = []
  beforeAll(async () => {
    tracerProvider.register()
    metrics.setGlobalMeterProvider(meterProvider)
    service = await startTestService()
    const flow = await runFlowWithSecrets(service)
    secrets = flow.secrets
  })
  afterAll(async () => {
    await service?.stop()
    await tracerProvider.shutdown()
    await meterProvider.shutdown()
    for (const api of [trace, metrics, context, propagation]) api.disable()
  })

  it('records a span for each request with its route, status and id, and inside it one for issuing the token', () => {
    const [request] = spansNamed('POST /oauth/token')
    expect(request?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/oauth/token',
      'http.response.status_code': 200,
      'tollgate.request_id': expect.any(String),
    })
    const [issued] = spansNamed('issue token')
    expect(issued?.attributes).toEqual({
      'tollgate.grant_type': 'authorization_code',
      'tollgate.client_id': service.demo?.clients.web?.id,
    })
    expect(issued?.parentSpanContext?.spanId).toBe(idOf(request))
  })

  it('records a failed token request as a failure by its type', () => {
    const failed = spansNamed('issue token').filter(({ status }) => status.code !== 0)
    expect(failed.map(({ attributes }) => attributes['error.type'])).toEqual(['invalid_grant'])
    expect(failed.flatMap(({ events }) => events)).toEqual([])
  })

  it('records a span for each request to a payment provider, with the id that the provider gave the request', () => {
    const [created] = spansNamed('POST /v1/subscriptions')
    expect(created?.attributes).toEqual({
      'tollgate.provider': 'stripe',
      'http.response.status_code': 200,
      'tollgate.provider_request_id': expect.stringMatching(/^req_\w+$/),
    })
  })

  it('records a trace for each webhook that is handled, with the requests to the provider inside it', () => {
    const jobs = spansNamed('job webhook')
    expect(jobs.length).toBeGreaterThan(2)
    for (const job of jobs) expect(job.parentSpanContext).toBeUndefined()
    const paid = jobs.filter(({ attributes }) =>
      String(attributes['tollgate.job.entry']).startsWith('invoice.paid (evt_'),
    )
    const inside = spansOut
      .getFinishedSpans()
      .filter(({ parentSpanContext }) =>
        paid.some((job) => idOf(job) === parentSpanContext?.spanId),
      )
    expect(inside.map(({ attributes }) => attributes['tollgate.provider'])).toContain('stripe')
  })

  it('exports no secret, code, token or e-mail address (threat M3)', async () => {
    await meterProvider.forceFlush()
    const exported = JSON.stringify([
      spansOut.getFinishedSpans().map(({ name, attributes, events, links, status, resource }) => {
        return { name, attributes, events, links, status, resource: resource.attributes }
      }),
      metricsOut.getMetrics().map(({ scopeMetrics }) => scopeMetrics),
    ])
    expect(exported).toContain('POST /oauth/token')
    expect(exported).toContain('tollgate_tokens_issued_total')
    for (const each of [...secrets, service.demo?.email ?? '']) {
      expect(exported.includes(each), `a span or metric has ${each.slice(0, 12)}…`).toBe(false)
    }
    expect(exported).not.toMatch(/[\w.]+@[\w.]+\.\w+/)
  })

  it('exports every metric of /metrics with its values', async () => {
    await meterProvider.forceFlush()
    const all =
      metricsOut
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? []
    const exported = new Map(all.map((metric) => [metric.descriptor.name, metric.dataPoints]))
    // Without those that have not counted anything yet.
    const counted = (await service.metrics.registry.getMetricsAsJSON())
      .filter(({ values }) => values.length > 0)
      .map(({ name }) => name)
    // Node's garbage collection is a histogram of prom-client, which cannot be followed.
    const followed = counted.filter((name) => name !== 'nodejs_gc_duration_seconds')
    expect([...exported.keys()]).toEqual(expect.arrayContaining(followed))
    const issued = await service.metrics.registry
      .getSingleMetric('tollgate_tokens_issued_total')
      ?.get()
    expect(exported.get('tollgate_tokens_issued_total')?.map(({ value }) => value)).toEqual(
      issued?.values.map(({ value }) => value),
    )
    expect(exported.get('tollgate_request_duration_seconds')).toContainEqual(
      expect.objectContaining({
        attributes: { route: '/oauth/token', method: 'POST', status: 200 },
        value: expect.objectContaining({ count: 2 }),
      }),
    )
  })

  it('begins a trace of its own for a caller that is no trusted proxy', async () => {
    const response = await fetch(`${service.url}/api/user`, { headers: { traceparent } })
    const span = findRequest(response)
    expect(span?.spanContext().traceId).not.toBe(TRACE)
    expect(span?.parentSpanContext).toBeUndefined()
    expect(service.log()).toContain(`"trace_id":"${span?.spanContext().traceId}"`)
  })

  it('continues the trace of a trusted proxy', async () => {
    const environment = { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1' }
    const behind = await startTestService({ environment })
    try {
      const headers = { traceparent, 'x-forwarded-for': '203.0.113.7' }
      const span = findRequest(await fetch(`${behind.url}/api/user`, { headers }))
      expect(span?.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: CALLER })
      expect(JSON.stringify(span?.attributes)).not.toContain('203.0.113.7')
    } finally {
      await behind.stop()
    }
  })

  it('records no spans of the requests of load balancers', async () => {
    const before = spansOut.getFinishedSpans().length
    for (const path of ['/healthz', '/readyz', '/metrics']) await fetch(`${service.url}${path}`)
    expect(
      spansOut
        .getFinishedSpans()
        .slice(before)
        .map(({ name }) => name),
    ).toEqual([])
  })
})

/** Finds the span of a request by the id in its response. */
function findRequest(response: Response): ReadableSpan | undefined {
  const id = response.headers.get('x-request-id')
  return spansOut
    .getFinishedSpans()
    .find(({ attributes }) => attributes['tollgate.request_id'] === id)
}

it('the service records nothing in a process without an OpenTelemetry SDK', async () => {
  const service = await startTestService()
  try {
    expect(service.telemetry).toBeNull()
    expect(service.log()).not.toContain('OpenTelemetry')
  } finally {
    await service.stop()
  }
})

it('the service warns if the SDK uses a version of the API that it cannot see', async () => {
  const registry = Symbol.for('opentelemetry.js.api.1')
  Reflect.set(globalThis, registry, { version: '1.0.0', trace: {} })
  try {
    const service = await startTestService()
    expect(service.telemetry).toBeNull()
    expect(service.log()).toMatch(/OpenTelemetry records nothing, .* version 1\.0\.0 /)
    await service.stop()
  } finally {
    Reflect.deleteProperty(globalThis, registry)
  }
})
