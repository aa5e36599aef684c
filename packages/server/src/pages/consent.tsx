import type { ConsentView, ErrorView, Pages } from '@tollgate/oauth'
import type { FC } from 'hono/jsx'
import type { Settings } from '../config/settings.ts'
import type { User } from '../users/user.ts'
import { DevicePage, titleOfDevicePage } from './device.tsx'
import { Document } from './parts/document.tsx'
import { SignedOut, SignOut } from './sign-out.tsx'

export interface AuthorizationPagesOptions {
  readonly settings: Settings
  readonly findUser: (id: string) => Promise<User | null>
}

/** The pages of `/oauth/authorize`, `/oauth/device` and `/oauth/logout`. The authorization server sends them, and allows them no script. */
export function createAuthorizationPages({
  settings,
  findUser,
}: AuthorizationPagesOptions): Partial<Pages> {
  const { name } = settings
  return {
    async consent(view) {
      const user = await findUser(view.userId)
      return String(
        <Document title="Approve access" name={name} script={false}>
          <Consent view={view} user={user} />
        </Document>,
      )
    },
    async device(view) {
      const user = view.step === 'confirm' ? await findUser(view.userId) : null
      return String(
        <Document title={titleOfDevicePage(view)} name={name} script={false}>
          <DevicePage view={view} user={user} />
        </Document>,
      )
    },
    error: (view) =>
      String(
        <Document title="Request refused" name={name} script={false}>
          <Refused view={view} />
        </Document>,
      ),
    async signOut(view) {
      const user = await findUser(view.userId)
      return String(
        <Document title="Sign out?" name={name} script={false}>
          <SignOut view={view} user={user} />
        </Document>,
      )
    },
    signedOut: ({ stillSignedIn }) =>
      String(
        <Document
          title={stillSignedIn ? 'Still signed in' : 'Signed out'}
          name={name}
          script={false}
        >
          <SignedOut stillSignedIn={stillSignedIn} />
        </Document>,
      ),
  }
}

const Consent: FC<{ view: ConsentView; user: User | null }> = ({ view, user }) => (
  <section class="card narrow consent">
    <h1>
      <bdi>{view.client.name}</bdi> asks for access to your account
    </h1>
    {user && (
      <p class="quiet-text">
        You are signed in as <strong>{user.email}</strong>.
      </p>
    )}
    {view.scopes.length > 0 ? (
      <>
        <p>If you approve, it will be able to:</p>
        <ul class="scopes">
          {view.scopes.map((scope) => (
            <li>{scope.description}</li>
          ))}
        </ul>
      </>
    ) : (
      <p>If you approve, it will see who you are. It asks for nothing else.</p>
    )}
    <p class="notice">
      Either way you will be sent to <strong>{view.destination}</strong>. Approve only if you trust
      it. You can take the access away at any time under Applications.
    </p>
    <form method="post" action={view.action}>
      <input type="hidden" name="csrf_token" value={view.csrfToken} />
      <div class="buttons wide">
        <button name="decision" value="deny" type="submit">
          Deny
        </button>
        <button class="primary" name="decision" value="approve" type="submit">
          Approve
        </button>
      </div>
    </form>
  </section>
)

const Refused: FC<{ view: ErrorView }> = ({ view }) => (
  <section class="card narrow">
    <h1>This request cannot be completed</h1>
    <p>{sentence(view.message)}</p>
    {view.hint !== null && <p class="quiet-text">{sentence(view.hint)}</p>}
    <p class="notice">
      Nothing was given to the application. If it sent you here, tell whoever runs it what this page
      says.
    </p>
    <p>
      <a href="/">Go to the first page</a>
    </p>
  </section>
)

/** Messages for programs end without a full stop, those for people with one. */
function sentence(text: string): string {
  return text.replace(/\.?$/, '.')
}
