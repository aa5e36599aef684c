// The clients of the suite.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { ALIAS } from './plans.mjs'

/**
 * For a plan whose clients are set up beforehand; `initialAccessToken` is for the others. Only the modules about it
 * expect to be told of a sign-out.
 */
export async function createClients(oauth, suite, { plan, initialAccessToken }) {
  if (plan.profile === 'fapi2') return createKeyHolders(oauth, suite, plan)
  const isImplicit = plan.name.startsWith('oidcc-implicit')
  const told = plan.name.startsWith('oidcc-backchannel')
  const create = async (name) => {
    const at = (path) => `${suite}/test/a/${ALIAS}/${path}`
    const { client, secret } = await oauth.clients.create({
      name,
      redirect: [at('callback'), `${at('callback')}?dummy1=lorem&dummy2=ipsum`],
      ...(isImplicit && { grants: ['implicit'] }),
      settings: {
        post_logout_redirect_uris: [at('post_logout_redirect')],
        ...(told && { backchannel_logout_uri: at('backchannel_logout') }),
      },
    })
    return {
      client_id: client.id,
      client_secret: secret,
      client_name: name,
      ...(initialAccessToken && { initial_access_token: initialAccessToken }),
    }
  }
  return {
    client: await create('Conformance one'),
    client2: await create('Conformance two'),
    client_secret_post: await create('Conformance by post'),
  }
}

/** Both algorithms that the profile allows for RSA and for elliptic curves: one by each client. */
async function createKeyHolders(oauth, suite, { variant }) {
  const create = async (name, alg, query = '') => {
    const key = newKey(alg)
    const { d, p, q, dp, dq, qi, ...publicKey } = key
    const forItself = variant.fapi_profile === 'fapi_client_credentials_grant'
    const { client } = await oauth.clients.create({
      name,
      ...(forItself
        ? { grants: ['client_credentials'] }
        : { redirect: `${suite}/test/a/${ALIAS}/callback${query}` }),
      settings: { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [publicKey] } },
    })
    const isOpenId = variant.openid === 'openid_connect'
    return {
      client_id: client.id,
      scope: isOpenId ? 'openid email offline_access' : 'place-orders',
      jwks: { keys: [key] },
      dpop_signing_alg: alg,
    }
  }
  return {
    client: await create('Conformance one', 'PS256'),
    client2: await create('Conformance two', 'ES256', '?dummy1=lorem&dummy2=ipsum'),
  }
}

function newKey(alg) {
  const { privateKey } =
    alg === 'PS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: randomUUID() }
}

/**
 * Clients that register themselves are asked about every time until somebody here vouches for them, and the suite
 * has modules with prompt=none. So an operator who looks at once is part of the run.
 */
export function vouchForRegistered(response, oauth) {
  const end = response.end.bind(response)
  response.end = (body, ...others) => {
    if (response.statusCode !== 201) return end(body, ...others)
    const { client_id } = JSON.parse(body.toString())
    oauth.clients.verify(client_id).then(() => end(body, ...others))
    return response
  }
}
