import { authorizationCode, defaultPages, escapeHtml, type Pages } from '@tollgate/oauth'
import { expect, it, onTestFinished } from 'vitest'
import { ISSUER, startServer } from './start-server.ts'

const pages: Pages = {
  consent: ({ client, scopes, action, csrfToken, destination }) => `<!doctype html>
<title>${escapeHtml(client.name)}</title>
<ul>${scopes.map(({ description }) => `<li>${escapeHtml(description)}</li>`).join('')}</ul>
<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="csrf_token" value="${escapeHtml(csrfToken)}">
<button name="decision" value="approve">To ${escapeHtml(destination)}</button>
</form>`,
  device: (view) => `<!doctype html><h1>${escapeHtml(view.step)}</h1>`,
  error: async ({ status, message }) => `<!doctype html><h1>${status} ${escapeHtml(message)}</h1>`,
  signOut: ({
    action,
    fields,
  }) => `<!doctype html><form method="post" action="${escapeHtml(action)}">
${Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${escapeHtml(value)}">`)}
</form>`,
  signedOut: ({ stillSignedIn }) => `<!doctype html><h1>${stillSignedIn ? 'Here' : 'Gone'}</h1>`,
  stylesheet: `${defaultPages.stylesheet} h1 { color: teal }`,
}

it('an application can replace the default pages by its own', async () => {
  const users = {
    findById: (id: string) => ({ id }),
    fromRequest: () => ({ id: 'ada' }),
  }
  const { oauth } = startServer({ pages, users, grants: [authorizationCode()] })
  onTestFinished(() => oauth.close())
  const redirect = 'https://shop.example/callback'
  const { client } = await oauth.clients.create({ name: '<Shop>', redirect, confidential: true })
  const show = async (path: string) => (await oauth.fetch(new Request(ISSUER + path))).text()
  const query = `client_id=${client.id}&response_type=code&scope=read`
  const consent = await show(`/oauth/authorize?${query}`)
  expect(consent).toContain('<title>&lt;Shop&gt;</title>')
  expect(consent).toContain('To shop.example')
  expect(await show('/oauth/authorize?client_id=nobody')).toContain('<h1>400 ')
  expect(await show('/oauth/pages.css')).toContain('teal')
})
