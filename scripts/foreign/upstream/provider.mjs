// An OpenID provider made with oidc-provider, with its own pages for signing in and consent. Every
// name can sign in, and has an address of this name. Prints its issuer.
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'

const [redirectUri, secret] = process.argv.slice(2)
const server = createServer()
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const issuer = `http://127.0.0.1:${server.address().port}`
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'tollgate',
      client_secret: secret,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  // The claims of the scopes are in the ID token too, as at most providers.
  conformIdTokenClaims: false,
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      name: id,
      email: `${id}@example.com`,
      email_verified: id !== 'eve',
    }),
  }),
})
server.on('request', provider.callback())
console.log(issuer)
