import type { adminEn } from './en.ts'

/** The texts of the operators' pages in German. */
export const adminDe: Readonly<Record<keyof typeof adminEn, string>> = {
  'admin.area': 'Betrieb',
  'admin.overview': 'Übersicht',
  'admin.people': 'Personen',
  'admin.clients': 'Anwendungen',
  'admin.webhooks': 'Webhooks',
  'admin.keys': 'Schlüssel',
  'admin.audit': 'Protokoll',
  'admin.settings': 'Einstellungen',
  'admin.role.viewer': 'Lesezugriff',
  'admin.role.support': 'Support',
  'admin.role.admin': 'Verwaltung',
  'admin.role.owner': 'Eigentum',
  'admin.next': 'Nächste Seite',
  'admin.first': 'Zurück zur ersten Seite',
  'admin.stay': 'Nichts ändern',
  'admin.detail': '{text} {detail}',
  'admin.signIn.title': 'Erneut anmelden',
  'admin.signIn.text':
    'Dafür müssen Sie sich in den letzten zehn Minuten angemeldet haben. Geben Sie Ihr Passwort erneut ein; danach kommen Sie auf diese Seite zurück.',
  'admin.signIn.link': 'Erneut anmelden',
  'admin.signIn.unsent': 'Es wurde nichts geändert.',
  'admin.problem.title': 'Nicht ausgeführt',
  'admin.problem.invalid-request':
    'Das Formular kann nicht gelesen werden. Laden Sie die Seite neu, und versuchen Sie es noch einmal.',
  'admin.problem.invalid-cursor':
    'Diese Seite der Liste gibt es nicht mehr. Beginnen Sie wieder am Anfang.',
  'admin.problem.unauthenticated': 'Sie sind nicht angemeldet.',
  'admin.problem.forbidden': 'Ihre Rolle erlaubt das nicht.',
  'admin.problem.fresh-sign-in-required':
    'Dafür müssen Sie sich in den letzten zehn Minuten angemeldet haben.',
  'admin.problem.not-found': 'Dieses Objekt gibt es nicht. Vielleicht wurde es gelöscht.',
  'admin.problem.method-not-allowed':
    'Das Formular kann nicht gelesen werden. Laden Sie die Seite neu, und versuchen Sie es noch einmal.',
  'admin.problem.conflict': 'Im jetzigen Zustand ist das nicht möglich.',
  'admin.problem.decision-required': 'Bitte treffen Sie zuerst eine Wahl.',
  'admin.problem.request-in-progress':
    'Das wird bereits ausgeführt. Laden Sie die Seite in einem Moment neu.',
  'admin.problem.outcome-unknown':
    'Der Vorgang wurde unterbrochen, und das Ergebnis ist unbekannt. Prüfen Sie das Objekt und das Protokoll, bevor Sie ihn wiederholen.',
  'admin.problem.stale':
    'Jemand anderes hat das geändert, seit Sie die Seite geöffnet haben. Laden Sie die Seite neu, prüfen Sie die neuen Werte, und wiederholen Sie Ihre Änderung.',
  'admin.problem.too-large': 'Das Formular ist zu groß.',
  'admin.problem.unsupported-media-type':
    'Das Formular kann nicht gelesen werden. Laden Sie die Seite neu, und versuchen Sie es noch einmal.',
  'admin.problem.invalid-input': 'Bitte prüfen Sie das Formular.',
  'admin.problem.key-reused':
    'Dieses Formular wurde schon gesendet. Laden Sie die Seite neu, und versuchen Sie es noch einmal.',
  'admin.problem.precondition-required':
    'Das Formular kann nicht gelesen werden. Laden Sie die Seite neu, und versuchen Sie es noch einmal.',
  'admin.problem.too-many-requests':
    'Zu viele Anfragen. Bitte versuchen Sie es später noch einmal.',
  'admin.problem.provider-refused': 'Der Zahlungsanbieter hat das abgelehnt.',
  'admin.problem.provider-unavailable':
    'Der Zahlungsanbieter hat nicht geantwortet. Im Protokoll steht, was begonnen wurde.',
  'admin.problem.unavailable':
    'Der Dienst ist ausgelastet. Bitte versuchen Sie es in einem Moment noch einmal.',
  'admin.problem.unexpected': 'Etwas ist schiefgegangen. Der Fehler wurde protokolliert.',
}
