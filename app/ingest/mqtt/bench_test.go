package mqtt

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"opsmon/app/test/scaling"
	"opsmon/kv/kvtest"
)

const (
	benchConnections = 100
	benchWindow      = 10     // unacknowledged messages per connection
	benchTurn        = 10_000 // messages per round, before the other is measured
	bytesEach        = 40     // approximate size of a signal in a batch of the log, in bytes
)

// BenchmarkScalingPublish sends signals with QoS 1 from 100 connections and waits for all acknowledgements. It
// compares with three baselines. The first stores the same payloads in bare bbolt, one Put each, in the same batches.
// The second stores only the few bytes that the log writes per batch, which no implementation can undercut. The third
// is a bare server that reads the same bytes from as many connections, batches them like the intake, stores as many
// bytes per batch in bare bbolt, and then acknowledges. The clients use the same processors. The targets are 10,000
// signals/s, and half of the first baseline.
func BenchmarkScalingPublish(b *testing.B) {
	scaling.Table(b, []scaling.Figure{
		{What: "signals in over MQTT with QoS 1 from 100 connections, signals/s", Floor: "raw bbolt storing the same bytes in the same batches, a Put for each signal"},
		{What: "the same", Floor: "raw bbolt storing what the log packs of them, one Put for a batch"},
		{What: "the same", Floor: "a bare server that decodes nothing before the same"},
	}, publishing)
}

func publishing(b *testing.B, stations int) []scaling.Measured {
	r := newRig(b, func(c *Config) { c.Limits.PerDevice = benchConnections })
	codes := make([]string, stations)
	for i := range codes {
		codes[i] = fmt.Sprint("S", i+1)
	}
	token := r.device("gw", codes...)
	ours, floor := make([]*bare, benchConnections), make([]*bare, benchConnections)
	raw := newRawServer(b)
	for i := range ours {
		ours[i] = r.bare(4)
		ours[i].connect("acme/gw", token, func(pk *packets.Packet) { pk.Connect.ClientIdentifier = fmt.Sprint(i) })
		ours[i].want(packets.Connack, 0)
		c, err := net.Dial("tcp", raw)
		r.must(err)
		b.Cleanup(func() { c.Close() })
		floor[i] = &bare{t: b, conn: c, in: bufio.NewReader(c)}
	}
	messages, payloads := make([][]byte, stations), make([][]byte, benchTurn)
	for i := range messages {
		var buf bytes.Buffer
		pk := packets.Packet{ProtocolVersion: 4, FixedHeader: packets.FixedHeader{Type: packets.Publish, Qos: 1}, TopicName: fmt.Sprintf("v1/acme/signals/S%d", i+1), PacketID: 1,
			Payload: fmt.Appendf(nil, `{"production_complete":%d,"line_speed":%d.5,"electrical_kw":11.25,"rssi":-61}`, i%5, 40+i%5)}
		r.must(pk.PublishEncode(&buf))
		messages[i] = buf.Bytes()
		for k := i; k < len(payloads); k += stations {
			payloads[k] = pk.Payload
		}
	}
	flood(b, ours, messages, 1000)
	r.must(r.signals.Pack())
	each, packed := kvtest.Raw(b, 1), kvtest.Raw(b, 1)
	var rates, eaches, packeds, servers []float64
	for b.Loop() {
		rates = append(rates, benchTurn/flood(b, ours, messages, benchTurn).Seconds())
		servers = append(servers, benchTurn/flood(b, floor, messages, benchTurn).Seconds())
		batches, whole := kvtest.Lengths(b, r.store, "signalTail"), 0
		began := time.Now()
		for _, n := range batches {
			r.must(packed(make([]byte, n)))
			whole += n
		}
		packeds = append(packeds, benchTurn/time.Since(began).Seconds())
		began = time.Now()
		// the length determines the approximate number of signals in a batch
		for i, stored, sent := 0, 0, 0; i < len(batches); i++ {
			stored += batches[i]
			to := benchTurn * stored / whole
			r.must(each(payloads[sent:to]...))
			sent = to
		}
		eaches = append(eaches, benchTurn/time.Since(began).Seconds())
		r.must(r.signals.Pack())
	}
	rate := median(rates)
	return []scaling.Measured{{Ours: rate, Floor: median(eaches)}, {Ours: rate, Floor: median(packeds)}, {Ours: rate, Floor: median(servers)}}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// flood sends messages over all connections and waits until each is acknowledged.
func flood(b *testing.B, all []*bare, messages [][]byte, total int) time.Duration {
	began, each := time.Now(), total/len(all)
	var running sync.WaitGroup
	for i, c := range all {
		running.Go(func() {
			sent, acked := 0, 0
			ack, out := make([]byte, 4), []byte(nil)
			for acked < each {
				out = out[:0]
				for ; sent < each && sent-acked < benchWindow; sent++ {
					out = append(out, messages[(i+sent)%len(messages)]...)
				}
				_, err := c.conn.Write(out)
				_ = c.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
				for first := true; err == nil && (first || c.in.Buffered() >= len(ack)); first = false {
					if _, err = io.ReadFull(c.in, ack); err == nil && ack[0] != packets.Puback<<4 {
						err = fmt.Errorf("got % x", ack)
					}
					acked++
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	return time.Since(began)
}

// newRawServer starts the third baseline.
func newRawServer(b *testing.B) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	update := kvtest.Raw(b, 1)
	queue := make(chan net.Conn, queued)
	var running sync.WaitGroup
	running.Go(func() {
		for first := range queue {
			count, n := map[net.Conn]int{first: 1}, 1
			timer := time.NewTimer(batchDelay)
			for more := true; more && n < most; {
				select {
				case c, ok := <-queue:
					if more = ok; ok {
						count[c]++
						n++
					}
					continue
				default:
				}
				if more = n < enough; more {
					select {
					case c, ok := <-queue:
						if more = ok; ok {
							count[c]++
							n++
						}
					case <-timer.C:
						more = false
					}
				}
			}
			timer.Stop()
			if err := update(make([]byte, n*bytesEach)); err != nil {
				b.Error(err)
			}
			for c, acks := range count {
				_, _ = c.Write(bytes.Repeat([]byte{packets.Puback << 4, 2, 0, 1}, acks))
			}
		}
	})
	var readers sync.WaitGroup
	readers.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			readers.Go(func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for {
					head, err := in.Peek(2)
					if err != nil {
						return
					}
					if _, err := in.Discard(2 + int(head[1])); err != nil {
						return
					}
					queue <- c
				}
			})
		}
	})
	b.Cleanup(func() {
		l.Close()
		readers.Wait()
		close(queue)
		running.Wait()
	})
	return l.Addr().String()
}
