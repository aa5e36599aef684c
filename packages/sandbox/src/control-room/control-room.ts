import { type HttpRequest, type HttpResponse, serveHttp } from '../core/http.ts'
import { ACTIONS, type Controls } from './actions.ts'
import { controlRoomPage } from './page.ts'
import { readState, type Watched } from './state.ts'

/** The web page to watch a sandbox and to move it. */
export interface ControlRoom {
  /** Where a browser finds it; `/state.json` below it has the same as data. */
  readonly url: string
  /** Closing the sandbox does so too. */
  close(): Promise<void>
}

export interface ControlRoomOptions extends Watched, Controls {
  readonly port: number
}

/** One page without script: what there is, and forms that move the clock and make trouble. */
export async function serveControlRoom(options: ControlRoomOptions): Promise<ControlRoom> {
  const server = await serveHttp({
    port: options.port,
    handle: (request) => respond(request, options),
  })
  return { url: server.url, close: () => server.close() }
}

async function respond(request: HttpRequest, options: ControlRoomOptions): Promise<HttpResponse> {
  if (request.path === '/state.json') return json(readState(options))
  if (request.method === 'GET' && request.path === '/') return controlRoomPage(readState(options))
  const action = Object.hasOwn(ACTIONS, request.path) ? ACTIONS[request.path] : undefined
  if (request.method !== 'POST' || !action) return { status: 404, body: 'Not found' }
  // A form of another site must not move the clock.
  const { origin, host } = request.headers
  if (origin !== undefined && origin !== `http://${host}`) return { status: 403, body: 'Forbidden' }
  try {
    await action(new URLSearchParams(request.body.toString('utf8')), options)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { status: 400, headers: { 'content-type': 'text/plain' }, body: message }
  }
  return { status: 303, headers: { location: '/' } }
}

function json(value: unknown): HttpResponse {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(value),
  }
}
