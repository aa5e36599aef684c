import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import express, { type RequestHandler } from 'express'
import createFastify, { type FastifyPluginCallback } from 'fastify'
import { Hono, type MiddlewareHandler } from 'hono'
import { onTestFinished } from 'vitest'

/** One set of routes, mounted by each adapter. */
export interface Mounts {
  readonly express: RequestHandler
  readonly fastify: FastifyPluginCallback
  readonly hono: MiddlewareHandler
  readonly next: Readonly<Record<string, (request: Request) => Promise<Response>>>
  readonly node: RequestListener
}

export type FrameworkName = keyof Mounts

const listeners: Readonly<
  Record<FrameworkName, (mounts: Mounts) => RequestListener | Promise<RequestListener>>
> = {
  express(mounts) {
    const app = express()
    app.use(mounts.express)
    app.use(express.json())
    return app
  },
  async fastify(mounts) {
    const app = createFastify()
    app.register(mounts.fastify)
    await app.ready()
    return (request, response) => app.routing(request, response)
  },
  hono(mounts) {
    const app = new Hono()
    app.use(mounts.hono)
    return getRequestListener(app.fetch)
  },
  /**
   * Next finds the route file by the path, and calls the handler that it exports for the method.
   */
  next(mounts) {
    return getRequestListener((request) => {
      const handler = mounts.next[request.method]
      return handler ? handler(request) : new Response(null, { status: 405 })
    })
  },
  node: (mounts) => mounts.node,
}

export const frameworks = Object.keys(listeners) as FrameworkName[]

export interface Served {
  readonly url: string
  readonly server: Server
}

export async function serve(framework: FrameworkName, mounts: Mounts): Promise<Served> {
  const server = createServer(await listeners[framework](mounts))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
