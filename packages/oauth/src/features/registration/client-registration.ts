import type { ServerContext } from '../../context.ts'
import type { Feature } from '../feature.ts'
import { buildRegistrationPath } from './client-information.ts'
import {
  handleRegistrationDeletion,
  handleRegistrationRead,
  handleRegistrationReplacement,
} from './manage-registration.ts'
import { handleRegistration } from './register.ts'
import { type ClientRegistrationOptions, resolveRegistration } from './settings.ts'

const NAME = 'clientRegistration'

/**
 * Lets clients register themselves (RFC 7591, RFC 7592, OpenID Connect Registration). The approval
 * screen is always shown for a self-registered client until the operator verifies it.
 * Self-registered clients are limited to the scopes in the option `selfRegistered`, to grants that
 * a user approves, and to access tokens of one hour.
 * @example
 * createAuthorizationServer({
 *   …, features: [clientRegistration({ policy: 'open' })],
 *   selfRegistered: { scopes: ['place-orders'] },
 * })
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
        endpoint: (request, context: ServerContext) =>
          handleRegistration(request, settings, context),
      },
      { method: 'GET', path: '/register/{id}', endpoint: handleRegistrationRead },
      {
        method: 'PUT',
        path: '/register/{id}',
        endpoint: (request, context: ServerContext, id) =>
          handleRegistrationReplacement(request, settings, context, id),
      },
      { method: 'DELETE', path: '/register/{id}', endpoint: handleRegistrationDeletion },
    ],
    // Clients choose their authentication from the metadata, and many cannot keep a secret.
    authentication: { methods: ['none'] },
    metadata: (context: ServerContext) => ({
      registration_endpoint: buildRegistrationPath(context),
    }),
  }
}
