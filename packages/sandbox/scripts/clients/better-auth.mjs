import { installFromNpm } from './npm.mjs'

/** Sign-in for Node with a plugin for subscriptions. Both packages have the same version. */
export const betterAuth = {
  name: 'better-auth',
  versions: ['1.7.6'],
  needs: ['npm'],
  install: (folder, version) =>
    installFromNpm(
      folder,
      [
        `better-auth@${version}`,
        `@better-auth/core@${version}`,
        `@better-auth/stripe@${version}`,
        'stripe@22',
      ],
      'subscribe.mjs',
    ),
  run: () => [process.execPath, 'subscribe.mjs'],
}
