// Creates the clients that the suite uses.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { ALIAS } from './plans.mjs'

/**
 * Creates the clients of a plan with static registration; `initialAccessToken` is for the other
 * plans. Only the modules about logout register for logout notifications.
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

/**
 * Creates two clients with keys, one for each algorithm that the profile allows: RSA and elliptic
 * curves.
 */
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
 * Approves self-registered clients at once, as an operator would. Unapproved clients require
 * consent each time, and the suite has modules with prompt=none.
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
