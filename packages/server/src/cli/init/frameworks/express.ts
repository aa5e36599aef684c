import { planEntry } from '../entry.ts'
import type { Framework } from '../framework.ts'

/** Express: routes and guards are middleware, and ours are a Router. */
export const express: Framework = {
  name: 'Express',
  package: 'express',
  major: 5,
  types: ['@types/express'],
  plan: (project, choices) =>
    planEntry(
      {
        name: 'Express',
        adapter: 'Express',
        rules: {
          package: 'express',
          creation: /express/,
          statement: (app) => `${app}.use(tollgate)`,
        },
        template: ({ modules }, { billing }) => {
          const types = modules === 'esm' ? 'type Request' : 'type Request, type RequestHandler'
          return {
            imports: `import { Router«, ${types}» } from 'express'`,
            request: 'Request',
            path: 'request.path',
            example: [
              'For example, with express-session (mount these routes below the session):',
              '',
              '  const { userId } = request.session',
              '  return userId ? { id: userId, sessionId: request.sessionID } : null',
            ],
            exports: [
              modules === 'esm' ? withAwait(billing !== 'none') : withPromise(billing !== 'none'),
              ROUTES,
            ].join('\n'),
          }
        },
      },
      project,
      choices,
    ),
}

const ROUTES = `
// A first guarded route, to try a token with. Remove it once routes of yours are guarded.
tollgate.get('/api/whoami', auth('client'), (request, response) => {
  response.json({ client: request.oauthClient?.clientId })
})`

const withAwait = (billing: boolean) => `
export const ${billing ? '{ oauth, billing }' : '{ oauth }'} = await open()
const { routes, auth, scopes, user } = forExpress(oauth, { signedIn })
export { auth, scopes, user }

/** The routes of Tollgate, for \`app.use(tollgate)\`. */
export const tollgate = Router()
tollgate.use(routes)${billing ? '\ntollgate.use(billingForExpress(billing).routes)' : ''}`

const withPromise = (billing: boolean) => `
// CommonJS has no top-level await, so requests wait until the database is open.
const opened = open().then(({ oauth${billing ? ', billing' : ''} }) => ({
  ...forExpress(oauth, { signedIn }),${billing ? '\n  billingRoutes: billingForExpress(billing).routes,' : ''}
}))
function onceOpen(pick«: (adapter: Awaited<typeof opened>) => RequestHandler»)«: RequestHandler» {
  return async (request, response, next) => pick(await opened)(request, response, next)
}
export const auth = (guard«?: 'api' | 'client'») => onceOpen((adapter) => adapter.auth(guard))
export const scopes = (...names«: string[]») => onceOpen((adapter) => adapter.scopes(...names))

/** The routes of Tollgate, for \`app.use(tollgate)\`. */
export const tollgate = Router()
tollgate.use(onceOpen(({ routes }) => routes))${billing ? '\ntollgate.use(onceOpen(({ billingRoutes }) => billingRoutes))' : ''}`
