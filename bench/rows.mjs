/**
 * Defines one row of the table. All results are relative to the floor.
 *
 * `target` is the result that Tollgate must reach and `limit` the result of the limit, both measured
 * on the machine that the targets were set on. On another machine HTTP takes a different share of
 * the time, so results relative to the floor differ, while the share of the limit stays comparable.
 * `ofPeer` additionally requires a multiple of the best peer's result, and `ofLimit` a part of the
 * limit's. `fill` is the number of tokens that are stored beforehand. A quick run omits `slow` rows.
 *
 * @typedef {{ workload: string, store: 'memory' | 'postgres' | 'sqlite', format: string,
 *   label: string, target?: number, limit?: number, ofPeer?: number, ofLimit?: number, peers: string[],
 *   seen?: boolean, oneUser?: boolean,
 *   slow?: boolean, framework?: string, guardedFirst?: boolean, fill?: number }} Row
 */
const row = (workload, store, format, limit, target, peers, more = {}) => ({
  workload,
  store,
  format,
  label: [workloads[workload], store, format].join(' '),
  limit,
  target,
  peers,
  ...more,
})

const workloads = {
  issue: 'issue',
  refresh: 'refresh',
  authorize: 'authorize+token',
  introspect: 'introspect',
  guarded: 'guarded GET',
  openid: 'code flow with ID token',
  userinfo: 'userinfo',
  pushed: 'pushed request + code flow',
  dpop: 'issue a key-bound token',
  dpopUserinfo: 'userinfo with a key-bound token',
  discovery: 'discovery',
}

/** Issues tokens while many others are kept in memory, where garbage collection has to visit them. */
const filled = (format, ofLimit) =>
  row('issue', 'memory', format, undefined, undefined, [], {
    label: `issue memory ${format}, 200,000 kept`,
    fill: 200_000,
    ofLimit,
  })

const oidc = 'oidc-provider'
const node = 'node-oauth'
const auth = 'better-auth'

/** The columns of the two sections. */
export const servers = [oidc, 'jmondi', node, auth]
export const verifiers = ['fastify-jwt', 'express-jwt']

// `jmondi` signs with jsonwebtoken, which does not support EdDSA, and has no opaque access tokens.
// `node-oauth` has only opaque tokens, which it also uses where others sign, and no introspection.
export const serverRows = [
  row('issue', 'memory', 'ES256', 0.27, 0.23, [oidc, 'jmondi', auth], { ofLimit: 0.85 }),
  row('issue', 'memory', 'EdDSA', 0.32, 0.27, [oidc, auth], { slow: true }),
  row('issue', 'memory', 'opaque', 0.56, 0.47, [oidc, node, auth], { ofLimit: 0.75 }),
  filled('ES256', 0.85),
  filled('opaque', 0.75),
  row('issue', 'postgres', 'ES256', 0.27, 0.19, [oidc, 'jmondi', auth], { ofPeer: 2 }),
  row('issue', 'postgres', 'opaque', 0.29, 0.2, [oidc, node, auth], { ofPeer: 2, slow: true }),
  row('refresh', 'memory', 'ES256', 0.29, 0.25, servers),
  row('refresh', 'postgres', 'ES256', 0.19, 0.14, servers, { ofPeer: 2 }),
  row('refresh', 'sqlite', 'ES256', 0.18, 0.14, servers, { slow: true }),
  row('authorize', 'memory', 'ES256', 0.37, 0.28, servers, {
    label: 'authorize+token memory',
    slow: true,
  }),
  row('authorize', 'postgres', 'ES256', 0.17, 0.13, servers, { label: 'authorize+token postgres' }),
  row('authorize', 'postgres', 'ES256', 0.125, 0.106, servers, {
    label: 'authorize+token one user',
    oneUser: true,
    slow: true,
  }),
  row('introspect', 'memory', 'opaque', 0.69, 0.5, [oidc, 'jmondi', auth], { slow: true }),
  row('introspect', 'postgres', 'opaque', 0.35, 0.25, [oidc, 'jmondi', auth]),
]

/**
 * Rows for OpenID Connect and related features, compared with the two peers that support it.
 * `target` is a multiple of the better one; RS256 has none, because its result depends on the key.
 */
const beside = (workload, format, peers, more = {}) =>
  row(workload, 'postgres', format, undefined, undefined, peers, { ofPeer: 1.5, ...more })

export const openidRows = [
  beside('openid', 'ES256', [oidc, auth]),
  beside('openid', 'RS256', [oidc, auth], { ofPeer: undefined, slow: true }),
  beside('userinfo', 'ES256', [oidc, auth]),
  beside('pushed', 'ES256', [oidc]),
  beside('dpop', 'ES256', [oidc]),
  beside('dpopUserinfo', 'ES256', [oidc]),
  beside('discovery', 'ES256', [oidc, auth]),
]
export const openidPeers = [oidc, auth]

const checked = (format, limit, target, more) =>
  row('guarded', 'memory', format, limit, target, verifiers, {
    label: `guarded GET ${format}`,
    ...more,
  })

export const guardedRows = [
  checked('RS256', 0.28, 0.24, { ofPeer: 0.95, slow: true }),
  checked('ES256', 0.19, 0.17),
  checked('EdDSA', 0.24, 0.21, { slow: true }),
  row('guarded', 'memory', 'ES256', 0.87, 0.7, ['fastify-jwt'], {
    label: 'guarded GET seen before',
    seen: true,
  }),
]

/**
 * The bare route of each framework beside the same route guarded by Tollgate, with a token that it
 * has seen before.
 */
export const frameworks = ['plain', 'fastify', 'hono', 'express']
export const bareRows = {
  get: row('guarded', 'memory', 'ES256', undefined, undefined, [], { seen: true }),
  post: row('issue', 'memory', 'any', undefined, undefined, []),
}
export const ofBareTarget = 0.9

/** Rows whose cost must not grow with the number of tokens. */
export const flatRows = ['postgres', 'sqlite'].flatMap((store) =>
  ['issue', 'refresh', 'introspect'].map((workload) =>
    row(workload, store, workload === 'introspect' ? 'opaque' : 'ES256', undefined, undefined, [], {
      label: `${workload} ${store}`,
      slow: store === 'sqlite',
    }),
  ),
)
export const flatTarget = 1.25
