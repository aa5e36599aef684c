import type { ServerContext } from '../../context.ts'
import type { Feature } from '../feature.ts'
import { registrationPath } from './client-information.ts'
import { deleteRegistration, readRegistration, replaceRegistration } from './manage-registration.ts'
import { register } from './register.ts'
import { type ClientRegistrationOptions, resolveRegistration } from './settings.ts'

const NAME = 'clientRegistration'

/**
 * Clients register themselves (RFC 7591, RFC 7592, OpenID Connect Registration). People are always asked about
 * them; they get the scopes of `selfRegistered` only, codes and refresh tokens, and access tokens of an hour at most.
 * @example
 * createAuthorizationServer({ …, features: [clientRegistration({ policy: 'open' })] })
 */
export function clientRegistration(options: ClientRegistrationOptions): Feature {
  const settings = resolveRegistration(options)
  if (settings.policy === 'closed') return { name: NAME }
  return {
    name: NAME,
    routes: [
      {
        method: 'POST',
        path: '/register',
        openTo: 'clients',
        endpoint: (request, context: ServerContext) => register(request, settings, context),
      },
      { method: 'GET', path: '/register/{id}', endpoint: readRegistration },
      {
        method: 'PUT',
        path: '/register/{id}',
        endpoint: (request, context: ServerContext, id) =>
          replaceRegistration(request, settings, context, id),
      },
      { method: 'DELETE', path: '/register/{id}', endpoint: deleteRegistration },
    ],
    // They choose from the metadata how to prove themselves, and many cannot keep a secret.
    authentication: { methods: ['none'] },
    metadata: (context: ServerContext) => ({ registration_endpoint: registrationPath(context) }),
  }
}
