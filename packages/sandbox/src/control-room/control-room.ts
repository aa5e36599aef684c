import { serveHttp } from '../core/http.ts'
import { Notices } from './notices.ts'
import { respond } from './respond.ts'
import type { Controls } from './story/watched.ts'

/** The web pages to watch a sandbox and to move it. */
export interface ControlRoom {
  /** Where a browser finds it; each page has its data beside it, and `/state.json` has the newest of all. */
  readonly url: string
  /** Closing the sandbox does so too. */
  close(): Promise<void>
}

/** Pages without script: what there is, what comes, and forms that move the clock and make trouble. */
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
