import { serveHttp } from '../core/http.ts'
import { FormMessages } from './notices.ts'
import { respondToControlRequest } from './respond.ts'
import type { ControllableSandbox } from './story/observed-sandbox.ts'

/** A running control room: web pages that show and change the state of the sandbox. */
export interface ControlRoom {
  /**
   * Address of the control room for a browser. Each page also exists as JSON (append `.json`), and
   * `/state.json` returns the newest objects of every kind.
   */
  readonly url: string
  /** Stops the control room's server only. Closing the sandbox stops it too. */
  close(): Promise<void>
}

/**
 * Starts the server of the control room. Its pages have no scripts; they show the current state and
 * forecasts, and have forms that move the clock and simulate failures.
 */
export async function serveControlRoom(
  options: ControllableSandbox & { readonly port: number },
): Promise<ControlRoom> {
  const notices = new FormMessages()
  const server = await serveHttp({
    port: options.port,
    handle: (request) => respondToControlRequest(request, options, notices),
  })
  return { url: server.url, close: () => server.close() }
}
