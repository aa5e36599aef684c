import type { AuthorizationServer } from '@tollgate/oauth'

/**
 * Creates a client to try the flows with, and instructions for it. Each start creates one, because
 * its secret is shown only once.
 */
export async function createDemoClient(
  oauth: AuthorizationServer,
  controlRoom: string | null,
): Promise<void> {
  const url = oauth.issuer
  const { client, secret } = await oauth.clients.create({
    name: 'Demo client',
    redirect: `${url}/callback`,
    grants: ['authorization_code', 'refresh_token', 'password'],
  })
  console.log(`
  Running at        ${url}
  Sign in with      demo@example.com / demo-password
  A token:          curl -s ${url}/oauth/token -d grant_type=password \\
                      -d client_id=${client.id} -d client_secret=${secret} \\
                      -d username=demo@example.com -d password=demo-password --data-urlencode scope='*'
  What it opens:    curl -s ${url}/api/orders -H 'Authorization: Bearer <access_token>'
  Subscribe:        curl -s ${url}/api/subscription -H 'Authorization: Bearer <access_token>' \\
                      -H 'Content-Type: application/json' -d '{"card":"pm_card_visa"}'
  Payments:         ${controlRoom ?? 'Stripe'}
`)
}
