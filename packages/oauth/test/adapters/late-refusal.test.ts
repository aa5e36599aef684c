import express from 'express'
import createFastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { forExpress } from '../../src/adapters/express.ts'
import { forFastify } from '../../src/adapters/fastify.ts'
import { overHttp } from './frameworks.ts'

const LIMIT = 100

/** Applications with a time limit on every response, as many have. */
const frameworks = [
  overHttp('Express', ({ oauth }) => {
    const app = express()
    app.use((_request, response, next) => {
      setTimeout(() => response.headersSent || response.status(503).end(), LIMIT)
      next()
    })
    app.get('/orders', forExpress(oauth).auth('api'), (_request, response) => {
      response.json([])
    })
    return app
  }),
  overHttp('Fastify', async ({ oauth }) => {
    const app = createFastify()
    app.addHook('onRequest', (_request, reply, done) => {
      setTimeout(() => reply.sent || reply.code(503).send(), LIMIT)
      done()
    })
    app.get('/orders', { onRequest: forFastify(oauth).auth('api') }, async () => [])
    await app.ready()
    return (request, response) => app.routing(request, response)
  }),
]

/**
 * An unknown `kid` makes the guard look up the keys, at most twice a second: later requests with it
 * have to wait.
 */
const header = Buffer.from('{"alg":"ES256","typ":"at+jwt","kid":"unknown"}').toString('base64url')
const headers = { authorization: `Bearer ${header}.e30.AA` }

it.each(frameworks)(
  'an application with $name keeps running if a guard refuses a request whose response the application has already sent because of a timeout (threat F4)',
  async (framework) => {
    const app = await framework.start()
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(async () => {
      process.off('unhandledRejection', note)
      await app.close()
    })

    const ask = async () => (await app.fetch('/orders', { headers })).status
    const statuses = [await ask(), await ask(), await ask()]
    expect(statuses).toContain(503)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(unhandled).toEqual([])
    expect([401, 503]).toContain(await ask())
  },
)
