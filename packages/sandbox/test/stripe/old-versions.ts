import { startStripeSandbox } from './support.ts'

/** A response, without types, because its shape depends on the API version. */
export interface UntypedResponse {
  readonly id: string
  readonly [field: string]: unknown
}

export interface OldResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: UntypedResponse
}

export const ACACIA = '2025-02-24.acacia'
export const BASIL = '2025-08-27.basil'
export const CLOVER = '2026-02-25.clover'
export const DAHLIA = '2026-08-26.dahlia'
export const PINNED = '2026-10-28.endive'

/** Starts a sandbox with the pinned SDK, and functions for calls with any version. */
export async function startVersions(options: Parameters<typeof startStripeSandbox>[0] = {}) {
  const setup = await startStripeSandbox(options)
  const { apiKey, url } = setup.sandbox.stripe
  async function send(
    version: string | null,
    path: string,
    form?: Readonly<Record<string, string>>,
  ): Promise<OldResponse> {
    const response = await fetch(`${url}/v1${path}`, {
      method: form ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(version === null ? {} : { 'stripe-version': version }),
      },
      ...(form ? { body: new URLSearchParams(form) } : {}),
    })
    const { status, headers } = response
    return { status, headers, body: (await response.json()) as UntypedResponse }
  }
  /** Calls like `send`, but fails if the call is rejected. */
  async function call(...args: Parameters<typeof send>): Promise<UntypedResponse> {
    const { status, body } = await send(...args)
    if (status !== 200) throw new Error(JSON.stringify(body.error))
    return body
  }
  return { ...setup, send, call }
}
