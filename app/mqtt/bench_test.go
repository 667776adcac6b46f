package mqtt

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"opsmon/app/signal"
	"opsmon/kv/kvtest"
)

// BenchmarkPublish sends signals with QoS 1 from 100 connections, each with a few that are not acknowledged yet, and waits
// for all acknowledgements: signals/s. x-raw is what a bare bbolt needs to store as many bytes in the same batches, by what
// we need: 1 is as fast, 0.5 half as fast. The clients run on the same processors.
func BenchmarkPublish(b *testing.B) {
	const connections, window, turn = 100, 10, 20_000
	var mu sync.Mutex
	var batches []int // of signals
	r := newRig(b, func(c *Config) { c.Limits.PerDevice = connections })
	take := r.broker.in.take
	r.broker.in.close()
	r.broker.in = newIntake(func(p []signal.Parcel) ([][]signal.Outcome, error) {
		n := 0
		for i := range p {
			n += len(p[i].Objects)
		}
		mu.Lock()
		batches = append(batches, n)
		mu.Unlock()
		return take(p)
	}, r.broker.cfg.Stations, r.broker.cfg.Log)
	update, _ := kvtest.Raw(b)
	all := make([]*bare, connections)
	token := r.device("gw", "S1", "S2", "S3", "S4", "S5")
	for i := range all {
		all[i] = r.bare(4)
		all[i].connect("acme/gw", token, func(pk *packets.Packet) { pk.Connect.ClientIdentifier = fmt.Sprint(i) })
		all[i].want(packets.Connack, 0)
	}
	messages := make([][]byte, 5)
	for i := range messages {
		var buf bytes.Buffer
		pk := packets.Packet{ProtocolVersion: 4, FixedHeader: packets.FixedHeader{Type: packets.Publish, Qos: 1}, TopicName: fmt.Sprintf("v1/acme/signals/S%d", i+1), PacketID: 1,
			Payload: []byte(fmt.Sprintf(`{"production_complete":%d,"line_speed":%d.5,"electrical_kw":11.25,"rssi":-61}`, i, 40+i))}
		r.must(pk.PublishEncode(&buf))
		messages[i] = buf.Bytes()
	}
	run := func(each int) {
		var running sync.WaitGroup
		for i, c := range all {
			running.Go(func() {
				sent, acked := 0, 0
				four := make([]byte, 4)
				for acked < each {
					var out []byte
					for sent < each && sent-acked < window {
						out = append(out, messages[(i+sent)%len(messages)]...)
						sent++
					}
					if len(out) > 0 {
						if _, err := c.conn.Write(out); err != nil {
							b.Error(err)
							return
						}
					}
					_ = c.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
					for first := true; first || c.in.Buffered() >= 4; first = false {
						if _, err := c.in.Read(four); err != nil || four[0] != packets.Puback<<4 {
							b.Errorf("got % x, %v", four, err)
							return
						}
						acked++
					}
				}
			})
		}
		running.Wait()
	}
	run(5) // warm
	var ours, raw time.Duration
	signals, stored := 0, 0
	for b.Loop() {
		batches = batches[:0]
		began := time.Now()
		run(turn / connections)
		ours += time.Since(began)
		signals += turn
		began = time.Now()
		for _, n := range batches {
			r.must(update(make([]byte, n*bytesEach)))
			stored += n
		}
		raw += time.Since(began)
		for r.signals.Tail() > 100_000 {
			r.must(r.signals.Pack())
		}
	}
	if stored != signals {
		b.Errorf("%d signals were sent and %d stored", signals, stored)
	}
	b.ReportMetric(float64(signals)/ours.Seconds(), "signals/s")
	b.ReportMetric(float64(raw)/float64(ours), "x-raw")
	b.ReportMetric(float64(signals)/float64(len(batches)*b.N), "signals/batch")
	b.ReportMetric(0, "ns/op")
}

// bytesEach is what a signal of the benchmark takes in a batch of the log, about.
const bytesEach = 40
