import type { DefaultMessages } from './en.ts'

/** German texts of the default pages. */
export const de: DefaultMessages = {
  'approve.title': 'Zugriff erlauben',
  'approve.heading': '{application} bittet um Zugriff auf Ihr Konto',
  'approve.button': 'Erlauben',
  'approve.deny': 'Ablehnen',
  'approve.otherAccount': 'Nicht Sie? {link}',
  'approve.otherAccount.link': 'Mit einem anderen Konto anmelden',
  'approve.own': 'Sie haben diese Anwendung selbst registriert.',
  'approve.byOperator': 'Der Betreiber dieses Servers hat diese Anwendung registriert.',
  'approve.verified.self':
    'Diese Anwendung hat sich selbst registriert. Der Betreiber dieses Servers hat sie geprüft.',
  'approve.verified.self.from':
    'Diese Anwendung von {host} hat sich selbst registriert. Der Betreiber dieses Servers hat sie geprüft.',
  'approve.verified.user':
    'Eine andere Person hat diese Anwendung registriert. Der Betreiber dieses Servers hat sie geprüft.',
  'approve.unverified.self':
    'Diese Anwendung ist {unverified}: Der Betreiber dieses Servers hat sie nicht überprüft. Sie hat sich selbst registriert und ist vielleicht nicht, was ihr Name verspricht.',
  'approve.unverified.self.from':
    'Diese Anwendung von {host} ist {unverified}: Der Betreiber dieses Servers hat sie nicht überprüft. Sie hat sich selbst registriert und ist vielleicht nicht, was ihr Name verspricht.',
  'approve.unverified.user':
    'Diese Anwendung ist {unverified}: Der Betreiber dieses Servers hat sie nicht überprüft. Eine andere Person hat sie registriert, und sie ist vielleicht nicht, was ihr Name verspricht.',
  'approve.unverified.word': 'nicht geprüft',
  'approve.resources': 'Der Zugriff gilt für {resources}.',
  'approve.nothingElse': 'Die Anwendung bittet um keine weiteren Berechtigungen.',
  'approve.willBeAble': 'Damit kann die Anwendung:',
  'approve.choose': 'Wählen Sie aus, was Sie der Anwendung erlauben:',
  'approve.optional': 'Zusätzlich können Sie der Anwendung erlauben:',
  'approve.read': 'Lesen Sie {documents}.',
  'approve.privacyPolicy': '{link} auf {host}',
  'approve.privacyPolicy.link': 'die Datenschutzerklärung',
  'approve.terms': '{link} auf {host}',
  'approve.terms.link': 'die Nutzungsbedingungen',
  'approve.ownComputer':
    'Die Antwort geht an ein Programm auf {place}. Jedes Programm dort könnte sich als diese Anwendung ausgeben. Erlauben Sie den Zugriff nur, wenn Sie das Programm gerade selbst gestartet haben.',
  'approve.ownComputer.place': 'Ihrem eigenen Computer',
  'approve.program':
    'Die Antwort öffnet das Programm auf Ihrem Gerät, das {scheme}-Links verarbeitet. Jedes Programm kann solche Links übernehmen. Erlauben Sie den Zugriff nur, wenn Sie das Programm gerade selbst gestartet haben.',
  'approve.destination':
    'Ob Sie erlauben oder ablehnen: Anschließend werden Sie zu {destination} weitergeleitet.',
  'list.and': '{list} und {last}',

  'device.enter.title': 'Gerät verbinden',
  'device.enter.text': 'Geben Sie den Code ein, den Ihr Gerät anzeigt.',
  'device.enter.label': 'Code',
  'device.enter.button': 'Weiter',
  'device.enter.unknown':
    'Dieser Code ist unbekannt, wurde schon verwendet oder ist abgelaufen. Prüfen Sie den Code auf Ihrem Gerät.',
  'device.enter.otherProvider':
    'Dieser Code ist für eine Anwendung, die dieses Konto nicht verwenden kann. Melden Sie sich mit dem Konto an, das Sie dafür verwenden, und versuchen Sie es noch einmal.',
  'device.enter.tooMany':
    'Sie haben zu viele Codes ausprobiert. Warten Sie {minutes, plural, one {# Minute} other {# Minuten}} und beginnen Sie dann von vorn.',
  'device.confirm.title': 'Gerät zulassen',
  'device.confirm.heading': '{application} bittet auf einem Gerät um Zugriff auf Ihr Konto',
  'device.confirm.code': 'Ihr Gerät zeigt diesen Code:',
  'device.confirm.warning':
    'Erlauben Sie den Zugriff nur, wenn Sie den Vorgang selbst auf Ihrem eigenen Gerät begonnen haben. Wenn Ihnen jemand diesen Code oder einen Link zu dieser Seite geschickt hat, lehnen Sie ab: Sonst erhält diese Person Zugriff auf Ihr Konto.',
  'device.done.title': 'Ihre Antwort wurde gespeichert',
  'device.approved.heading': 'Sie haben {application} Zugriff erlaubt',
  'device.approved.text':
    'Kehren Sie zu Ihrem Gerät zurück; dort geht es von selbst weiter. Sie können diese Seite schließen.',
  'device.denied.heading': 'Sie haben {application} den Zugriff verweigert',
  'device.denied.text': 'Das Gerät erhält keinen Zugriff. Sie können diese Seite schließen.',

  'signOut.title': 'Abmelden?',
  'signOut.byApplication':
    '{application} möchte Sie hier und bei allen Anwendungen abmelden, bei denen Sie sich mit diesem Konto angemeldet haben.',
  'signOut.text':
    'Sie werden hier und bei allen Anwendungen abgemeldet, bei denen Sie sich mit diesem Konto angemeldet haben.',
  'signOut.destination': 'Anschließend werden Sie zu {destination} weitergeleitet.',
  'signOut.stayHere': '{problem} Sie bleiben auf dieser Website.',
  'signOut.unregistered':
    'Die Anwendung möchte Sie zu einer Adresse weiterleiten, die sie nicht registriert hat.',
  'signOut.unproven':
    'Die Anwendung möchte Sie zu einer Adresse weiterleiten, weist sich aber nicht aus.',
  'signOut.button': 'Abmelden',
  'signOut.stay': 'Angemeldet bleiben',
  'signedOut.title': 'Abgemeldet',
  'signedOut.heading': 'Sie sind abgemeldet',
  'signedOut.text': 'Sie können diese Seite schließen.',
  'stillSignedIn.title': 'Weiterhin angemeldet',
  'stillSignedIn.heading': 'Sie sind weiterhin angemeldet',
  'stillSignedIn.text': 'Es hat sich nichts geändert. Sie können diese Seite schließen.',

  'error.title': 'Anfrage abgelehnt',
  'error.heading': 'Diese Anfrage kann nicht abgeschlossen werden',
  'error.forDevelopers':
    'Diese Anfrage ist ungültig. Wenn eine Anwendung Sie hierher geschickt hat, zeigen Sie deren Betreiber diese Meldung:',
  'error.again': 'Erneut versuchen',
  'error.signedOut': 'Sie sind nicht mehr angemeldet.',
  'error.foreignForm':
    'Dieses Formular ist veraltet oder wurde von einer anderen Website gesendet.',
  'error.expired':
    'Diese Seite war zu lange geöffnet, oder Sie haben sich seitdem erneut angemeldet.',
  'error.expired.hint': 'Es wurde nichts erlaubt oder abgelehnt.',
  'error.answered': 'Diese Anfrage wurde schon beantwortet oder ist abgelaufen.',
  'error.answered.hint': 'Kehren Sie zur Anwendung zurück und beginnen Sie von vorn.',
  'error.applicationGone':
    'Diese Anwendung gibt es nicht mehr, oder ihre Adresse hat sich geändert.',
  'error.applicationGone.hint': 'Kehren Sie zur Anwendung zurück und beginnen Sie von vorn.',
  'error.tooMany': 'Zu viele Anfragen. Warten Sie einige Minuten und versuchen Sie es dann erneut.',
  'error.unavailable':
    'Der Dienst ist vorübergehend nicht erreichbar. Versuchen Sie es gleich noch einmal.',
  'error.failed': 'Der Server konnte die Anfrage nicht abschließen.',

  'formPost.title': 'Zurück zur Anwendung',
  'formPost.text':
    'Ihr Browser führt keine Skripte aus. Drücken Sie die Schaltfläche, um zur Anwendung zurückzukehren.',
  'formPost.button': 'Weiter',

  'scope.openid': 'Erfahren, wer Sie sind',
  'scope.profile': 'Ihren Namen und Ihr Profil sehen',
  'scope.email': 'Ihre E-Mail-Adresse sehen',
  'scope.address': 'Ihre Postanschrift sehen',
  'scope.phone': 'Ihre Telefonnummer sehen',
  'scope.groups': 'Sehen, welchen Gruppen Sie angehören',
  'scope.offline_access': 'Den Zugriff behalten, auch wenn Sie die Anwendung nicht verwenden',
}
