import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'

/** A single-page application with oidc-client-ts, on its own origin. */
export interface SinglePageApp {
  readonly url: string
  /** Sets the issuer and client id that the person got when registering it. */
  configure(settings: { readonly authority: string; readonly clientId: string }): void
  close(): Promise<void>
}

const library = readFileSync(
  createRequire(import.meta.url)
    .resolve('oidc-client-ts')
    .replace(/dist.*/, 'dist/browser/oidc-client-ts.min.js'),
)

/**
 * Starts the application. `host`: a loopback name that the service does not use, or the same one
 * for a page of the same site.
 */
export async function startSinglePageApp(host: string): Promise<SinglePageApp> {
  let settings = { authority: '', clientId: '' }
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', url)
    if (pathname === '/oidc-client-ts.js') {
      response.setHeader('content-type', 'text/javascript').end(library)
    } else {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.end(pathname === '/silent' ? page(SILENT) : page(script(settings), BUTTONS))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://${host}:${(server.address() as AddressInfo).port}`
  return {
    url,
    configure(given) {
      settings = given
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const page = (script: string, rest = '') =>
  `<!doctype html><html lang="en"><title>Single page</title><link rel="icon" href="data:,">
<h1>Single page</h1><output></output>${rest}<script src="/oidc-client-ts.js"></script><script>${script}</script></html>`

const BUTTONS = ['signIn', 'callUserInfo', 'callApi', 'renew', 'renewInFrame', 'revoke', 'signOut']
  .map((name) => `<button onclick="press(${name})">${name}</button>`)
  .join('')

const SILENT =
  'new oidc.UserManager({ authority: "x", client_id: "x", redirect_uri: "x" }).signinSilentCallback()'

const script = ({ authority, clientId }: { authority: string; clientId: string }) => `
const manager = new oidc.UserManager({
  authority: '${authority}',
  client_id: '${clientId}',
  redirect_uri: location.origin + '/callback',
  silent_redirect_uri: location.origin + '/silent',
  post_logout_redirect_uri: location.origin + '/',
  scope: 'openid profile email check-status place-orders',
  loadUserInfo: true,
  automaticSilentRenew: false,
})
const show = (text) => { document.querySelector('output').textContent = text }
const press = (action) => action().then(show, (error) => show('Failed: ' + (error.error || error.message)))
const bearer = async () => ({ headers: { authorization: 'Bearer ' + (await manager.getUser()).access_token } })
const signIn = () => manager.signinRedirect()
const callUserInfo = async () => (await (await fetch('${authority}/oauth/userinfo', await bearer())).json()).email
const callApi = async () => 'API ' + (await fetch('${authority}/api/orders', await bearer())).status
const renewed = (before, after) => after.access_token === before.access_token ? 'The same' : 'Renewed ' + after.profile.email
const renew = async () => renewed(await manager.getUser(), await manager.signinSilent())
const renewInFrame = async () => renewed(await manager.getUser(), await manager.signinSilent({ forceIframeAuth: true }))
const revoke = async () => { await manager.revokeTokens(); return 'Revoked' }
const signOut = () => manager.signoutRedirect({ state: 'leaving' })
const arrive = async () => {
  if (location.pathname === '/callback') return 'Hello ' + (await manager.signinCallback()).profile.name
  if (location.search.includes('state=')) return (await manager.signoutCallback()) && 'Signed out'
  return 'Nobody'
}
press(arrive)
`
