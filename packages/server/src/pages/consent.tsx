import type { ConsentView, DeviceQuestion, ErrorView, Pages } from '@tollgate/oauth'
import type { FC } from 'hono/jsx'
import type { Settings } from '../config/settings.ts'
import type { User } from '../users/user.ts'
import { DevicePage, titleOfDevicePage } from './device.tsx'
import { type Asked, Asker, Background, Decision } from './parts/asking.tsx'
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
  const askedBy = async (view: ConsentView | DeviceQuestion): Promise<Asked> => {
    const { userId } = view.client
    const [user, owner] = await Promise.all([
      findUser(view.userId),
      userId === null ? null : findUser(userId),
    ])
    return { name, user, owner }
  }
  return {
    async consent(view) {
      const asked = await askedBy(view)
      return String(
        <Document title="Approve access" name={name} script={false}>
          <Consent view={view} asked={asked} />
        </Document>,
      )
    },
    async device(view) {
      const asked = view.step === 'confirm' ? await askedBy(view) : null
      return String(
        <Document title={titleOfDevicePage(view)} name={name} script={false}>
          <DevicePage view={view} asked={asked} />
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

const Consent: FC<{ view: ConsentView; asked: Asked }> = ({ view, asked }) => (
  <section class="card narrow consent">
    <Asker view={view} asked={asked} rest="asks for access to your account" />
    <Background
      view={view}
      asked={asked}
      destination={view.destination}
      toOwnComputer={view.toOwnComputer}
      opensProgram={view.opensProgram}
    />
    <Decision view={view} who="it">
      <p class="quiet-text">You can take the access away at any time under Applications.</p>
    </Decision>
  </section>
)

const Refused: FC<{ view: ErrorView }> = ({ view }) => (
  <section class="card narrow">
    <h1>This request cannot be completed</h1>
    <p>{sentence(view.message)}</p>
    {view.hint !== null && <p class="quiet-text">{sentence(view.hint)}</p>}
    {view.again !== null && (
      <p>
        <a class="button primary" href={view.again}>
          Try again
        </a>
      </p>
    )}
    {view.hint === null && view.again === null && (
      <p class="notice">
        Nothing was given to the application. If it sent you here, tell whoever runs it what this
        page says.
      </p>
    )}
    <p>
      <a href="/">Go to the first page</a>
    </p>
  </section>
)

/** Messages for programs end without a full stop, those for people with one. */
function sentence(text: string): string {
  return text.replace(/\.?$/, '.')
}
