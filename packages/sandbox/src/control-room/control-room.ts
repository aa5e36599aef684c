import { serveHttp } from '../core/http.ts'
import { Notices } from './notices.ts'
import { respond } from './respond.ts'
import type { Controls } from './story/watched.ts'

/** Web pages that show the state of a sandbox and control it. */
export interface ControlRoom {
  /**
   * Address for a browser. Each page also exists as JSON (`.json`), and `/state.json` returns the
   * newest objects of every kind.
   */
  readonly url: string
  /** Stops the server. Closing the sandbox does this too. */
  close(): Promise<void>
}

/**
 * Serves the control room: pages without scripts that show the present state, forecasts, and forms
 * that move the clock and simulate failures.
 */
export async function serveControlRoom(
  options: Controls & { readonly port: number },
): Promise<ControlRoom> {
  const notices = new Notices()
  const server = await serveHttp({
    port: options.port,
    handle: (request) => respond(request, options, notices),
  })
  return { url: server.url, close: () => server.close() }
}
