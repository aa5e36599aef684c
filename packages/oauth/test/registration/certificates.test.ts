import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Certificate, createCertificate } from '../../../../test-support/self-signed.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'tollgate-certificates-'))
const servers: Server[] = []
afterAll(async () => {
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  rmSync(folder, { recursive: true, force: true })
})

async function serve(certificate: Certificate): Promise<string> {
  const server = createServer(certificate, (_request, response) => response.end('here'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  return `https://localhost:${(server.address() as AddressInfo).port}/`
}

const moduleAt = (path: string) =>
  JSON.stringify(fileURLToPath(new URL(`../../../${path}`, import.meta.url)))

const PROGRAM = `
  import { createPinnedRequest } from ${moduleAt('http/dist/outgoing/index.js')}
  import { resolveOutgoing } from ${moduleAt('oauth/dist/outgoing/outgoing.js')}
  const { urls, certificates } = JSON.parse(process.argv[1])
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const send = createPinnedRequest(
    resolveOutgoing({ privateAddresses: ['127.0.0.1'], certificates, resolve, timeout: 30 }),
  )
  const ask = (url) => send(new URL(url), { method: 'GET', maxBytes: 100 })
  const said = await Promise.all(urls.map((url) =>
    ask(url).then(({ body }) => body.toString(), ({ cause }) => cause.code)))
  console.log(JSON.stringify(said))`

/** Runs the requests in a separate process, because Node reads the variable at start. */
async function ask(urls: readonly string[], certificates: readonly string[], extra: string) {
  const given = JSON.stringify({ urls, certificates })
  const { stdout } = await run(
    process.execPath,
    ['--input-type=module', '--eval', PROGRAM, given],
    { env: { ...process.env, NODE_EXTRA_CA_CERTS: extra } },
  )
  return JSON.parse(stdout)
}

describe('the `outgoing.certificates` option', () => {
  const ofOption = createCertificate(['localhost'], [], 'ofOption')
  const ofNode = createCertificate(['localhost'], [], 'ofNode')
  const ofNobody = createCertificate(['localhost'], [], 'ofNobody')
  const file = join(folder, 'extra.pem')
  let urls: string[]
  beforeAll(async () => {
    writeFileSync(file, ofNode.cert)
    urls = [await serve(ofOption), await serve(ofNode), await serve(ofNobody)]
  })

  it('adds trusted certificates to those in NODE_EXTRA_CA_CERTS', async () => {
    const unknown = 'DEPTH_ZERO_SELF_SIGNED_CERT'
    expect(await ask(urls, [ofOption.cert], file)).toEqual(['here', 'here', unknown])
    expect(await ask(urls, [ofOption.cert], '')).toEqual(['here', unknown, unknown])
    const nowhere = join(folder, 'none.pem')
    expect(await ask(urls, [ofOption.cert], nowhere)).toEqual(['here', unknown, unknown])
    expect(await ask(urls, [], file)).toEqual([unknown, 'here', unknown])
  })
})
