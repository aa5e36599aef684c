import type { ObservedRequest, ObservedResponse, Observer } from '@tollgate/billing'
import type { Logger } from 'pino'
import { withLogFields } from '../log-context.ts'

/**
 * Creates the observer of billing, which logs each request to a payment provider, and marks the
 * lines of each background job.
 */
export function observeBilling(logger: Logger): Observer {
  return (work, run) =>
    work.kind === 'request'
      ? logRequest(logger, work, run)
      : withLogFields({ job: work.queue, entry: work.entry }, run)
}

async function logRequest(
  logger: Logger,
  { provider, operation }: ObservedRequest,
  run: () => Promise<ObservedResponse | null>,
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

/** Names a failure by its type or code, because its message may contain personal data. */
export function nameFailure(error: unknown): string {
  const { type, code, name } = Object(error) as Readonly<Record<string, unknown>>
  return [type, code, name].find((each): each is string => typeof each === 'string') ?? 'unknown'
}
