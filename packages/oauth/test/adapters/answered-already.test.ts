import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import createFastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { forExpress } from '../../src/adapters/express.ts'
import { forFastify } from '../../src/adapters/fastify.ts'
import { startServer, type TestServer } from '../support.ts'

const LIMIT = 100

/** Applications that give every answer a time limit, as many do. */
const frameworks: Record<string, (server: TestServer) => Promise<RequestListener>> = {
  async Express({ oauth }) {
    const app = express()
    app.use((_request, response, next) => {
      setTimeout(() => response.headersSent || response.status(503).end(), LIMIT)
      next()
    })
    app.get('/orders', forExpress(oauth).auth('api'), (_request, response) => {
      response.json([])
    })
    return app
  },
  async Fastify({ oauth }) {
    const app = createFastify()
    app.addHook('onRequest', (_request, reply, done) => {
      setTimeout(() => reply.sent || reply.code(503).send(), LIMIT)
      done()
    })
    app.get('/orders', { onRequest: forFastify(oauth).auth('api') }, async () => [])
    await app.ready()
    return (request, response) => app.routing(request, response)
  },
}

/** The keys are looked up for it, at most twice a second: the next ones with it have to wait. */
const header = Buffer.from('{"alg":"EdDSA","typ":"at+jwt","kid":"unknown"}').toString('base64url')
const headers = { authorization: `Bearer ${header}.e30.AA` }

it.each(Object.entries(frameworks))(
  'F4 %s survives a refusal that comes after its own time limit',
  async (_name, build) => {
    const server = await startServer()
    const http = createServer(await build(server))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(async () => {
      process.off('unhandledRejection', note)
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
      await server.close()
    })

    const { port } = http.address() as AddressInfo
    const ask = async () => (await fetch(`http://127.0.0.1:${port}/orders`, { headers })).status
    const statuses = [await ask(), await ask(), await ask()]
    expect(statuses).toContain(503)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(unhandled).toEqual([])
    expect([401, 503]).toContain(await ask())
  },
)
