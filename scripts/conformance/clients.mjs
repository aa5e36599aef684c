// The clients of the suite.
import { ALIAS } from './plans.mjs'

/**
 * For a plan whose clients are set up beforehand; `initialAccessToken` is for the others. Only the modules about it
 * expect to be told of a sign-out.
 */
export async function createClients(oauth, suite, { plan, initialAccessToken }) {
  const told = plan.name.startsWith('oidcc-backchannel')
  const create = async (name) => {
    const at = (path) => `${suite}/test/a/${ALIAS}/${path}`
    const { client, secret } = await oauth.clients.create({
      name,
      redirect: [at('callback'), `${at('callback')}?dummy1=lorem&dummy2=ipsum`],
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
