import { planEntry } from '../entry.ts'
import type { Framework } from '../framework.ts'

/** Fastify: ours is a plugin, and guards are `onRequest` hooks. */
export const fastify: Framework = {
  name: 'Fastify',
  package: 'fastify',
  major: 5,
  types: [],
  plan: (project, choices) =>
    planEntry(
      {
        name: 'Fastify',
        adapter: 'Fastify',
        rules: {
          package: 'fastify',
          creation: /(?:[Ff]astify|require\(['"]fastify['"]\))(?:<[^\n]*?>)?/,
          statement: (app) => `${app}.register(tollgate)`,
          // The plugin that `fastify generate` writes, to which fastify-cli passes the application.
          marker: { line: /^([ \t]*)\/\/ Place here your custom code!.*\n/gm, app: 'fastify' },
        },
        template: ({ modules }, { billing }) => {
          const hook = modules === 'esm' ? '' : ', onRequestHookHandler'
          return {
            imports: `«import type { FastifyPluginAsync, FastifyRequest${hook} } from 'fastify'»`,
            request: 'FastifyRequest',
            path: `request.url.split('?')[0]`,
            example: [
              'For example, with @fastify/session (register these routes below the session):',
              '',
              "  const userId = request.session.get('userId')",
              '  return userId ? { id: userId, sessionId: request.session.sessionId } : null',
            ],
            exports:
              modules === 'esm' ? withAwait(billing !== 'none') : withPromise(billing !== 'none'),
          }
        },
      },
      project,
      choices,
    ),
}

const ROUTE = `
  // A first guarded route, to try a token with. Remove it once routes of yours are guarded.
  app.get('/api/whoami', { onRequest: auth('client') }, async (request) => ({
    client: request.oauthClient?.clientId,
  }))
}`

const withAwait = (billing: boolean) => `
export const ${billing ? '{ oauth, billing }' : '{ oauth }'} = await open()
const { routes, auth, scopes, user } = forFastify(oauth, { signedIn })
export { auth, scopes, user }

/** The routes of Tollgate, for \`app.register(tollgate)\`. */
export const tollgate«: FastifyPluginAsync» = async (app) => {
  app.register(routes)${billing ? '\n  app.register(billingForFastify(billing).routes)' : ''}
${ROUTE}`

const withPromise = (billing: boolean) => `
// CommonJS has no top-level await, so requests wait until the database is open.
const opened = open().then(({ oauth${billing ? ', billing' : ''} }) => ({
  ...forFastify(oauth, { signedIn }),${billing ? '\n  billingRoutes: billingForFastify(billing).routes,' : ''}
}))
function onceOpen(
  pick«: (adapter: Awaited<typeof opened>) => onRequestHookHandler»,
)«: onRequestHookHandler» {
  return function (request, reply, done) {
    opened.then((adapter) => pick(adapter).call(this, request, reply, done), done)
  }
}
export const auth = (guard«?: 'api' | 'client'») => onceOpen((adapter) => adapter.auth(guard))
export const scopes = (...names«: string[]») => onceOpen((adapter) => adapter.scopes(...names))

/** The routes of Tollgate, for \`app.register(tollgate)\`. */
export const tollgate«: FastifyPluginAsync» = async (app) => {
  const { routes${billing ? ', billingRoutes' : ''} } = await opened
  app.register(routes)${billing ? '\n  app.register(billingRoutes)' : ''}
${ROUTE}`
