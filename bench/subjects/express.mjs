import { createServer } from 'node:http'
import express from 'express'
import { paths } from '../fixtures.mjs'
import { resource, tokens } from './floor.mjs'

/** Express with nothing but the route. */
export const name = 'express'

export function start() {
  const app = express()
  app.get(paths.resource, (_request, response) => response.json(resource))
  app.post(paths.token, express.urlencoded({ extended: false }), (request, response) =>
    response.json(request.body.grant_type ? tokens : {}),
  )
  return {
    server: createServer(app),
    seed: { constant: true, tokens: [tokens.access_token] },
  }
}
