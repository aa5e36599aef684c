export default function Home() {
  return <main>Hello Next!</main>;
}
