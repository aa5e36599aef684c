// Verifies the tokens in a file with express-oauth2-jwt-bearer and jose.
import { readFileSync } from 'node:fs'
import express from 'express'
import { auth } from 'express-oauth2-jwt-bearer'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const { issuer, tokens } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const CASES = ['good', 'anotherAudience', 'expired', 'idToken', 'tampered']

async function each(library, preset, read) {
  for (const name of CASES) {
    const detail = await read(tokens[preset][name], tokens[preset].audience).then(
      () => null,
      (error) => error.message.replaceAll(/\s+/g, ' '),
    )
    const result = detail === null ? 'accepted' : 'refused'
    console.log([library, preset, name, result, detail ?? ''].join('\t'))
  }
}

/** Verifies tokens with the middleware in a complete application. */
async function readByExpress(preset, options) {
  const app = express()
  const { audience } = tokens[preset]
  app.get('/', auth({ issuerBaseURL: issuer, audience, ...options }), (_request, response) => {
    response.json('read')
  })
  app.use((error, _request, response, _next) => {
    response.status(error.status ?? 500).send(error.message)
  })
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${server.address().port}/`
  const name = options.strict ? ', strict' : ''
  await each(`express-oauth2-jwt-bearer${name}`, preset, async (token) => {
    const reply = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`)
  })
  server.closeAllConnections()
  server.close()
}

await readByExpress('readByAll', {})
await readByExpress('default', { strict: true })

const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))
const byJose = (typ) => (token, audience) => jwtVerify(token, keys, { issuer, audience, typ })
await each('jose', 'default', byJose('at+jwt'))
await each('jose', 'readByAll', byJose('JWT'))
