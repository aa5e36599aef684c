import type { ObservedJob, ObservedRequest, ObservedResponse, Observer } from '@tollgate/billing'
import type { Logger } from 'pino'
import { withLogFields } from '../log-context.ts'
import { nameFailure } from './failure.ts'
import type { Telemetry } from './telemetry.ts'

/**
 * Creates the observer of billing, which logs and traces each request to a payment provider and
 * each background job.
 */
export function observeBilling(logger: Logger, telemetry: Telemetry | null): Observer {
  return (work, run) =>
    work.kind === 'request'
      ? logRequest(logger, work, () => traceRequest(telemetry, work, run))
      : runJob(telemetry, work, run)
}

/** Runs a background job, with its name in its log lines and a trace of its own. */
export function runJob<Result>(
  telemetry: Telemetry | null,
  { queue, entry }: Pick<ObservedJob, 'queue' | 'entry'>,
  run: () => Promise<Result>,
): Promise<Result> {
  return withLogFields({ job: queue, ...(entry !== null && { entry }) }, () => {
    if (!telemetry) return run()
    const attributes = {
      'tollgate.job.queue': queue,
      ...(entry !== null && { 'tollgate.job.entry': entry }),
    }
    // A request may start the processing of a queue, but its entries may belong to others.
    return telemetry.trace(`job ${queue}`, { kind: 'consumer', root: true, attributes }, run)
  })
}

type Run = () => Promise<ObservedResponse | null>

function traceRequest(
  telemetry: Telemetry | null,
  { provider, operation }: ObservedRequest,
  run: Run,
): ReturnType<Run> {
  if (!telemetry) return run()
  const attributes = { 'tollgate.provider': provider }
  return telemetry.trace(operation, { kind: 'client', attributes }, async (span) => {
    const response = await run()
    if (!response) return null
    const { status, requestId } = response
    span.setAttribute('http.response.status_code', status)
    if (requestId !== null) span.setAttribute('tollgate.provider_request_id', requestId)
    if (status >= 500) telemetry.markFailed(span)
    return response
  })
}

async function logRequest(
  logger: Logger,
  { provider, operation }: ObservedRequest,
  run: Run,
): Promise<void> {
  const start = performance.now()
  const log = (fields: object) => {
    const ms = Math.round((performance.now() - start) * 10) / 10
    logger.info({ provider, operation, ...fields, ms }, 'provider request')
  }
  try {
    const response = await run()
    log(response ? { status: response.status, provider_request_id: response.requestId } : {})
  } catch (error) {
    log({ failure: nameFailure(error) })
    throw error
  }
}
