import type { Readable } from 'node:stream'
import { html } from '@tollgate/http'
import type { HttpRequest, HttpResponse } from '../core/http.ts'
import { PathRouter } from '../core/router.ts'
import { CONTROL_ROOM_ACTIONS } from './actions/all-actions.ts'
import { findRejectionReason, toLocalRedirectPath } from './guard.ts'
import { serveMailPart } from './mail-files.ts'
import { readState } from './model/state.ts'
import type { FormMessages } from './notices.ts'
import { CONTROL_ROOM_PAGES } from './pages/all-pages.ts'
import type { ControlRoomPage, PageRequest } from './pages/page.ts'
import { type ControlRoomView, type PageFrame, renderPage } from './parts/layout.ts'
import { CONTROL_ROOM_ICON, CONTROL_ROOM_STYLESHEET } from './parts/style.ts'
import type { ControllableSandbox } from './story/observed-sandbox.ts'

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Without a referrer, browsers would send our own forms with `Origin: null`.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

const ROUTES = new PathRouter<ControlRoomPage>()
for (const [path, page] of Object.entries(CONTROL_ROOM_PAGES)) ROUTES.add('GET', path, page)

export async function respondToControlRequest(
  request: HttpRequest,
  controls: ControllableSandbox,
  notices: FormMessages,
): Promise<HttpResponse> {
  const refusal = findRejectionReason(request)
  if (refusal !== null) return send(403, 'text/plain; charset=utf-8', refusal)
  if (request.method === 'POST') return runAction(request, controls, notices)
  if (request.method !== 'GET') return send(405, 'text/plain; charset=utf-8', 'Method not allowed')
  const file = sendFile(request.path, controls) ?? serveMailPart(request.path, controls)
  return file ?? showPage(request, controls, notices)
}

function sendFile(path: string, controls: ControllableSandbox): HttpResponse | null {
  if (path === '/style.css') return send(200, 'text/css; charset=utf-8', CONTROL_ROOM_STYLESHEET)
  if (path === '/icon.svg') return send(200, 'image/svg+xml', CONTROL_ROOM_ICON)
  if (path === '/state.json') {
    const state = readState(controls)
    controls.store.packOld()
    return sendJson(200, state)
  }
  if (path === '/export') return send(200, 'application/json', controls.exportState())
  return null
}

async function showPage(
  request: HttpRequest,
  controls: ControllableSandbox,
  notices: FormMessages,
): Promise<HttpResponse> {
  const asJson = request.path.endsWith('.json')
  const path = asJson ? request.path.slice(0, -'.json'.length) : request.path
  const found = ROUTES.find('GET', path === '/index' ? '/' : path)
  const query = new URLSearchParams(request.query)
  const notice = notices.find(query.get('said'))
  query.delete('said')
  const own = query.size > 0 ? `${path}?${query}` : path
  const params = mapValues(found?.params ?? {}, decode)
  const ask: PageRequest = { sandbox: controls, params, query, path: own }
  const data = found && (await found.target.read(ask))
  // Reading unpacks the rows; packing them again saves memory.
  controls.store.packOld()
  if (asJson) return data ? sendJson(200, data) : sendJson(404, { error: 'Not found' })
  const json = `${path === '/' ? '/index' : path}.json${query.size > 0 ? `?${query}` : ''}`
  const now = controls.clock.now().toISOString()
  const frame: PageFrame = { path: own, json: data ? json : null, now, notice }
  if (!found || !data) return sendPage(404, NOT_FOUND, frame)
  return sendPage(200, found.target.show(data as never, ask), frame)
}

const NOT_FOUND: ControlRoomView = {
  title: 'Not found',
  body: html`<p>This page does not exist, or its object was removed: events are kept for 30 days, and a reset deletes everything.</p><p><a href="/">Overview</a></p>`,
}

async function runAction(
  request: HttpRequest,
  controls: ControllableSandbox,
  notices: FormMessages,
): Promise<HttpResponse> {
  const action = Object.hasOwn(CONTROL_ROOM_ACTIONS, request.path)
    ? CONTROL_ROOM_ACTIONS[request.path]
    : undefined
  const asJson = request.headers.accept?.includes('application/json') === true
  const form = new URLSearchParams(request.body.toString('utf8'))
  const back = toLocalRedirectPath(form.get('back'))
  const frame: PageFrame = {
    path: back,
    json: null,
    now: controls.clock.now().toISOString(),
    notice: null,
  }
  if (!action) {
    return asJson ? sendJson(404, { error: 'Not found' }) : sendPage(404, NOT_FOUND, frame)
  }
  try {
    const { message, data } = await action(form, controls)
    if (asJson) return sendJson(200, data)
    const mark = `${back.includes('?') ? '&' : '?'}said=${notices.keep(message)}`
    return { status: 303, headers: { ...HEADERS, location: back + mark } }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    if (asJson) return sendJson(400, { error: text })
    const view = { title: 'The action failed', body: html`<p><a href="${back}">Back</a></p>` }
    return sendPage(400, view, { ...frame, notice: { text, isBad: true } })
  }
}

function sendPage(status: number, view: ControlRoomView, frame: PageFrame): HttpResponse {
  return send(status, 'text/html; charset=utf-8', renderPage(view, frame))
}

function sendJson(status: number, value: unknown): HttpResponse {
  return send(status, 'application/json', JSON.stringify(value))
}

function send(status: number, type: string, body: string | Readable): HttpResponse {
  return { status, headers: { ...HEADERS, 'content-type': type }, body }
}

function mapValues(
  object: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
