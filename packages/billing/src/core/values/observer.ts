import type { Logger } from './logger.ts'
import type { ProviderName } from './provider-name.ts'

/** A request to a payment provider's API, as passed to an observer. */
export interface ObservedRequest {
  /** Distinguishes requests from jobs. */
  readonly kind: 'request'
  /** The provider that receives the request. */
  readonly provider: ProviderName
  /**
   * Method and path of the request, such as `POST /v1/customers/{id}`. Ids are replaced by `{id}`,
   * and the query is left out, so that it contains no secrets and no personal data.
   */
  readonly operation: string
}

/** One attempt to process an entry of a queue in the background, as passed to an observer. */
export interface ObservedJob {
  /** Distinguishes jobs from requests. */
  readonly kind: 'job'
  /** The kind of entry: `webhook`, `event`, `usage`, `mail` or `delivery`. */
  readonly queue: string
  /**
   * The entry, such as `invoice.paid (evt_1)` for a webhook. `null` if several entries are processed
   * together.
   */
  readonly entry: string | null
}

/** Work of billing that an observer is called for. */
export type ObservedWork = ObservedRequest | ObservedJob

/** The provider's response to an observed request, as far as its SDK reveals it. */
export interface ObservedResponse {
  /** HTTP status. */
  readonly status: number
  /** The provider's own id of the request. `null` if the provider has none. */
  readonly requestId: string | null
}

/**
 * A function that is called for each piece of work, for example to log or measure it. It calls
 * `run()`, which does the work and resolves with the provider's response, or with `null` for jobs
 * and for providers whose SDK does not reveal it. `run()` rejects if the work fails. Errors that the
 * observer itself throws are logged and have no other effect; if it does not call `run()`, the work
 * is done nevertheless.
 */
export type Observer = (
  work: ObservedWork,
  run: () => Promise<ObservedResponse | null>,
) => Promise<unknown>

/**
 * Does a piece of work and reports it to the application's observer. Resolves and rejects exactly
 * as `run` does.
 */
export type Observe = <Result>(
  work: ObservedWork,
  run: () => Promise<Result>,
  responseOf?: (result: Result) => ObservedResponse | null,
) => Promise<Result>

/**
 * Wraps the observer so that its mistakes do no harm: each piece of work is done exactly once,
 * whatever the observer does.
 */
export function createObserveFunction(observer: Observer, logger: Logger): Observe {
  return async (work, run, responseOf = () => null) => {
    let running: ReturnType<typeof run> | null = null
    const once = () => {
      running ??= (async () => run())()
      return running
    }
    try {
      await observer(work, async () => responseOf(await once()))
    } catch (error) {
      const failure = await once().then(
        () => null,
        (reason: unknown) => ({ reason }),
      )
      if (failure?.reason !== error) logger.error('The observer of billing failed', error)
    }
    return once()
  }
}
