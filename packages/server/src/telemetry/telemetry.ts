import type { Context, Meter, Span, SpanOptions } from '@opentelemetry/api'
import type { Logger } from 'pino'
import { getLogFields, withLogFields } from '../log-context.ts'
import { nameFailure } from './failure.ts'

/** Records spans and metrics with the OpenTelemetry SDK that the operator has registered. */
export interface Telemetry {
  readonly meter: Meter
  /**
   * Runs `work` in a span, which is the parent of the spans that `work` makes, and adds its trace id
   * to the log lines. A failure sets the status and `error.type` only, because messages of errors
   * may contain secrets.
   */
  trace<Result>(
    name: string,
    options: TraceOptions,
    work: (span: Span) => Promise<Result>,
  ): Promise<Result>
  /** Marks the span of a response with status 500 or above. */
  markFailed(span: Span): void
  /**
   * Returns the context that a request belongs to: that of the span in progress, if another
   * instrumentation has begun one, or that of the request's `traceparent`. `header` reads a header
   * of the request. `null` if the caller is not trusted: its request begins a new trace.
   */
  contextOf(header: ((name: string) => string | undefined) | null): Context
}

interface TraceOptions extends Pick<SpanOptions, 'attributes' | 'root'> {
  readonly kind: 'server' | 'client' | 'consumer' | 'internal'
  /** @default the context in progress */
  readonly parent?: Context
}

const NAME = 'tollgate'
/** The global in which every version 1 of `@opentelemetry/api` keeps the registered SDK. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1')

interface Registry {
  readonly version: string
  readonly trace?: unknown
  readonly metrics?: unknown
}

/**
 * Connects to the OpenTelemetry SDK of this process. `null` if none is registered: nothing is
 * recorded then, and `@opentelemetry/api` is not even loaded.
 */
export async function connectTelemetry(logger: Logger): Promise<Telemetry | null> {
  const registry = Reflect.get(globalThis, REGISTRY) as Registry | undefined
  if (!registry?.trace && !registry?.metrics) return null
  const api = await import('@opentelemetry/api').catch(() => null)
  const isConnected =
    api?.trace.getTracerProvider() === registry.trace ||
    api?.metrics.getMeterProvider() === registry.metrics
  if (!api || !isConnected) {
    logger.warn(
      `OpenTelemetry records nothing, because its SDK was registered with version ${registry.version} of @opentelemetry/api, and Tollgate finds ${api ? 'a newer one' : 'none'}. Install that version in the folder of Tollgate.`,
    )
    return null
  }
  const { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api
  const KINDS = {
    server: SpanKind.SERVER,
    client: SpanKind.CLIENT,
    consumer: SpanKind.CONSUMER,
    internal: SpanKind.INTERNAL,
  }
  const tracer = trace.getTracer(NAME)
  const markFailed = (span: Span) => void span.setStatus({ code: SpanStatusCode.ERROR })
  return {
    meter: api.metrics.getMeter(NAME),
    markFailed,
    trace: (name, { kind, parent = context.active(), ...options }, work) =>
      tracer.startActiveSpan(name, { ...options, kind: KINDS[kind] }, parent, async (span) => {
        const fields = { ...getLogFields(), trace_id: span.spanContext().traceId }
        try {
          return await withLogFields(fields, () => work(span))
        } catch (error) {
          span.setAttribute('error.type', nameFailure(error))
          markFailed(span)
          throw error
        } finally {
          span.end()
        }
      }),
    contextOf(header) {
      const active = context.active()
      if (trace.getSpan(active)) return active
      if (!header) return ROOT_CONTEXT
      return propagation.extract(ROOT_CONTEXT, header, {
        get: (read, name) => read(name),
        keys: () => [],
      })
    },
  }
}
